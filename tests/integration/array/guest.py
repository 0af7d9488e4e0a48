# SPDX-License-Identifier: Apache-2.0
"""A qemu guest without KVM: Debian's kernel, with an initramfs of busybox and a few programs."""
import glob
import re
import shutil
import subprocess

import lab
from lab import claim, run


def unpacked_kernel(folder):
    """Unpacks Debian's newest kernel package."""
    names = run("apt-cache", "pkgnames", "linux-image-6.1.0-").split()
    names = [name for name in names if re.fullmatch(r"linux-image-6\.1\.0-\d+-amd64", name)]
    if not names:
        lab.skip("no package of a Debian kernel is known")
    newest = max(names, key=lambda name: int(name.split("-")[3]))
    done = subprocess.run(["apt-get", "download", newest], cwd=folder, capture_output=True,
                          text=True)
    if done.returncode != 0:
        lab.skip(f"apt-get download {newest}: {done.stderr.strip()[-200:]}")
    run("dpkg", "-x", glob.glob(f"{folder}/*.deb")[0], folder / "kernel")
    return next((folder / "kernel/boot").glob("vmlinuz-*"))


def with_dependencies(modules, tree):
    """Module files in load order."""
    depends = {}
    for path in tree.rglob("*.ko"):
        depends[path.stem.replace("-", "_")] = path
    ordered = []

    def add(name):
        path = depends.get(name.replace("-", "_"))
        if path is None or path in ordered:
            return
        for needed in run("modinfo", "-F", "depends", path).strip().split(","):
            if needed:
                add(needed)
        ordered.append(path)

    for soft in ("crc32c_generic", "libcrc32c", *modules):
        add(soft)
    return ordered


def make_initramfs(folder, kernel_tree, name, modules, script):
    """An initramfs that loads the modules, runs the script and switches the guest off."""
    root = folder / name
    for part in ("bin", "real", "proc", "sys", "dev", "mnt", "etc", "modules"):
        (root / part).mkdir(parents=True)
    shutil.copy("/bin/busybox", root / "bin/busybox")
    for program in ("nbd-client", "mke2fs", "e2fsck"):
        path = shutil.which(program) or shutil.which(program, path="/sbin:/usr/sbin")
        shutil.copy(path, root / "real" / program)  # not the version of busybox
        for library in re.findall(r"(/\S+)", run("ldd", path)):
            target = root / library.lstrip("/")
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(library, target)
    loads = []
    for number, module in enumerate(with_dependencies(modules, kernel_tree)):
        shutil.copy(module, root / f"modules/{number:02}.ko")
        loads.append(f"insmod /modules/{number:02}.ko")
    (root / "etc/mtab").write_text("")
    init = root / "init"
    init.write_text("\n".join([
        "#!/bin/busybox sh", "/bin/busybox --install -s /bin", "export PATH=/bin",
        "mount -t proc proc /proc", "mount -t sysfs sys /sys", "mount -t devtmpfs dev /dev",
        *loads, "(", script.strip(), ")", "poweroff -f", ""]))
    init.chmod(0o755)
    archive = folder / f"{name}.cpio"
    files = run("find", ".", cwd=root)
    with open(archive, "wb") as out:
        subprocess.run(["busybox", "cpio", "-o", "-H", "newc"], cwd=root, input=files.encode(),
                       stdout=out, stderr=subprocess.DEVNULL, check=True)
    return archive


def need_guests():
    if not lab.NIGHTLY:
        lab.skip("runs only nightly (CALPE_NIGHTLY=1), as it takes minutes")
    lab.need("qemu-system-x86_64", "busybox", "nbd-client", "dpkg", "modinfo")


def boot(kernel, initramfs, *more):
    """Runs a guest, whose script must print GUEST-DONE, to its end."""
    done = subprocess.run(
        ["qemu-system-x86_64", "-accel", "tcg", "-m", "512", "-nographic", "-no-reboot", "-kernel",
         kernel, "-initrd", initramfs, "-append", "console=ttyS0 quiet panic=1", "-nic",
         "user,model=e1000", *map(str, more)], capture_output=True, text=True, timeout=600,
        errors="replace", stdin=subprocess.DEVNULL)
    claim("GUEST-DONE" in done.stdout, f"the guest did not finish:\n{done.stdout[-3000:]}")
    return done.stdout
