# syntax=docker/dockerfile:1
# Two stages: Debian installs, and an image without shell and package manager runs. Both have the Python of Debian 13.

FROM debian:trixie-slim AS build
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends ca-certificates python3 python3-venv \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /source
COPY requirements-dist.lock ./
RUN python3 -m venv /tools \
    && /tools/bin/python -m pip install --no-cache-dir --require-hashes --requirement requirements-dist.lock
COPY requirements-dev.lock ./
COPY pyproject.toml README.md LICENSE ./
COPY src src
# Every package in the version and with the hash of the lock file. Bytecode is made now: the root is read-only later.
RUN /tools/bin/uv pip install --no-cache --python /usr/bin/python3 --target /site --compile-bytecode \
        --constraint requirements-dev.lock --build-constraint requirements-dev.lock '.[postgres]' \
    && find /site -depth -type d -path '*/numpy/*' \( -name tests -o -name f2py -o -name include \) -exec rm -r {} + \
    && find /site -name '*.pyi' -delete \
    && echo docker > "$(echo /site/tokonoma-*.dist-info/INSTALLER)" \
    && mkdir /data

FROM gcr.io/distroless/python3-debian13:nonroot
LABEL org.opencontainers.image.title="Tokonoma" \
      org.opencontainers.image.description="A personal context server (MCP): memory, claims, items, manuals, files" \
      org.opencontainers.image.source="https://github.com/tokonoma/tokonoma" \
      org.opencontainers.image.licenses="Apache-2.0" \
      io.modelcontextprotocol.server.name="io.github.tokonoma/tokonoma"
COPY --from=build /site /opt/tokonoma
COPY --from=build --chown=65532:65532 /data /data
ENV PATH=/opt/tokonoma/bin:/usr/bin \
    PYTHONPATH=/opt/tokonoma \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    TOKONOMA_HOME=/data \
    TOKONOMA_HOST=0.0.0.0 \
    TOKONOMA_REQUIRE_KEY=true
USER 65532:65532
VOLUME ["/data"]
EXPOSE 8722
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s --retries=3 \
    CMD ["/usr/bin/python3", "-c", "import os, urllib.request as u; u.urlopen('http://127.0.0.1:' + os.environ.get('TOKONOMA_PORT', '8722') + '/health', timeout=4)"]
ENTRYPOINT ["/opt/tokonoma/bin/tokonoma"]
CMD ["serve"]
