#!/bin/sh
# Does not end when it is asked to.
trap '' TERM INT HUP
echo "stubborn $$"
while :; do sleep 1000; done
