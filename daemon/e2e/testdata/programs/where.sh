#!/bin/sh
# Says what of a folder is there: it lies in that folder and runs from it.
echo "dir=$(pwd)"
echo "self=$0"
[ -x tools/deep/helper ] && echo "helper=$(tools/deep/helper)"
[ -L linked ] && echo "linked=$(cat linked)"
[ -x plain.txt ] || echo "plain=$(cat plain.txt)"
for name in ignored.bin secret .git; do [ -e "$name" ] || echo "without=$name"; done
