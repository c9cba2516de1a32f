#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Prints the address of the Debian mirror that this machine's own apt uses; fails when it uses none.
set -eu

codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Identifier: Packages' |
    awk -v release="$codename" '
        $2 == release && $3 == "main" { print $1; found = 1; exit }
        END { exit !found }'
