#!/bin/sh
# Publish Tokonoma under the name of this machine in its tailnet, with a certificate from Tailscale.
# Funnel must be allowed for the machine in the access rules of the tailnet.
set -eu
name=$(tailscale status --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["Self"]["DNSName"].rstrip("."))')
tailscale funnel --bg --https=443 http://127.0.0.1:8722
echo "public_url = \"https://$name\"  # put this line into tokonoma.toml and restart tokonoma serve"
