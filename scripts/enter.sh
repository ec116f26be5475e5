# shellcheck shell=bash disable=SC2016  # the inner shell expands
# Sourced: another release of Debian in a folder, and commands in it.

# lay_release FOLDER DEBOOTSTRAP-ARGUMENT...: does nothing if the folder holds one already.
lay_release() {
    local root=$1
    shift
    [ ! -e "$root/ready" ] || return 0
    rm -rf --one-file-system "$root"
    mkdir -p "$root"
    # What debootstrap mounts ends with it, also if it is killed.
    if ! unshare --mount --propagation private debootstrap --variant=minbase "$@" > "$root.log" 2>&1; then
        tail -n 20 "$root.log" >&2
        echo "debootstrap failed, see $root.log" >&2
        return 1
    fi
    printf '#!/bin/sh\nexit 101\n' > "$root/usr/sbin/policy-rc.d"  # a package that starts a server must not
    chmod 755 "$root/usr/sbin/policy-rc.d"
    echo force-unsafe-io > "$root/etc/dpkg/dpkg.cfg.d/fast"
    touch "$root/ready"
}

# enter FOLDER [UNSHARE-OPTION...] -- COMMAND...: runs a command in the release. Mounts and processes end with it; of
# the environment nothing goes in. The command is process 1: one that does not wait for orphans goes through bash.
enter() {
    local root=$1 options=()
    shift
    while [ "$1" != -- ]; do
        options+=("$1")
        shift
    done
    shift
    cp -L /etc/resolv.conf /etc/hosts "$root/etc/"
    unshare --mount --propagation private --pid --fork --kill-child "${options[@]}" bash -euc '
        root=$1
        shift
        mount --bind "$root" "$root"
        mount -t proc proc "$root/proc"
        mount --rbind /dev "$root/dev"
        mount -t sysfs -o ro sysfs "$root/sys" 2> /dev/null || true
        mount -t tmpfs tmpfs "$root/run"
        ip link set lo up 2> /dev/null || true
        # The release becomes the root of the namespace, which nsenter in a test enters; chroot alone does not do that.
        cd "$root"
        pivot_root . .
        umount -l .
        exec chroot . /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 \
            DEBIAN_FRONTEND=noninteractive "$@"' enter "$root" "$@"
}
