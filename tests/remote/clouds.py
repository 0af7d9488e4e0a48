# SPDX-License-Identifier: Apache-2.0
"""Clouds on loopback for the tests of remote places: S3 servers, rclone remotes, directories."""
import os
import pathlib
import shutil

from s3_server import S3

NAMES = ("aurora", "boreal")
BUCKET = "photos"


class Clouds:
    """Two S3 servers with their own credentials, and a remote "drive" of rclone."""

    def __init__(self, folder):
        folder = pathlib.Path(folder)
        self.drive = folder / "drive"
        self.drive.mkdir()
        self.servers = [S3(access_key=f"key-{name}", secret_key=f"secret/{name}+", bucket=BUCKET)
                        for name in NAMES]
        config, credentials = folder / "aws-config", folder / "aws-credentials"
        config.write_text("".join(
            f"[profile {name}]\nregion = eu-north-1\nendpoint_url = {server.url}\n\n"
            for name, server in zip(NAMES, self.servers)))
        credentials.write_text("".join(
            f"[{name}]\naws_access_key_id = {server.access_key}\n"
            f"aws_secret_access_key = {server.secret_key}\n\n"
            for name, server in zip(NAMES, self.servers)))
        rclone = folder / "rclone.conf"
        rclone.write_text(f"[drive]\ntype = alias\nremote = {self.drive}\n")
        self.environment = {"AWS_CONFIG_FILE": str(config),
                            "AWS_SHARED_CREDENTIALS_FILE": str(credentials),
                            "RCLONE_CONFIG": str(rclone)}
        self.s3 = [f"s3://{name}@{BUCKET}/calpe" for name in NAMES]
        self.places = [*self.s3, "rclone:drive:calpe"]

    def whole_environment(self):
        others = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
        return {**others, **self.environment}

    def close(self):
        for server in self.servers:
            server.close()


def has_rclone():
    return shutil.which("rclone") is not None
