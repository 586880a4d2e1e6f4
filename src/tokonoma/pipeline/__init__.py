"""The row of stages that every call walks."""
