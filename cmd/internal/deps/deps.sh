#!/bin/sh
# make deps, first half: a Python with pip, which fetches the rest (deps.py). POSIX sh, because it runs before
# anything is installed.
set -eu
here=$(cd "$(dirname "$0")" && pwd)

usable() { # a Python that can fetch wheels: 3.9 or newer, with pip
	command -v "$1" >/dev/null 2>&1 &&
		"$1" -c 'import sys, pip; sys.exit(sys.version_info < (3, 9))' >/dev/null 2>&1
}

find_python() {
	for candidate in "${FULMEN_PYTHON:-python3}" python3 /usr/bin/python3; do
		if usable "$candidate"; then
			echo "$candidate"
			return
		fi
	done
}

python=$(find_python)
if [ -z "$python" ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
	echo "deps: installing python3 and pip with apt-get"
	apt-get update -qq >/dev/null
	DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
		ca-certificates python3 python3-pip >/dev/null
	python=$(find_python)
fi
if [ -z "$python" ]; then
	case $(uname -s) in
	Darwin) remedy="xcode-select --install" ;;
	*) remedy="sudo apt-get install python3 python3-pip   (or your system's packages of that name)" ;;
	esac
	echo "deps: Python 3.9 or newer with pip is needed to fetch MLX, and none was found." >&2
	echo "      Install it, then run make again:  $remedy" >&2
	exit 1
fi
exec "$python" "$here/deps.py" "$@"
