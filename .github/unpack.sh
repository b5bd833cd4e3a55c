#!/bin/bash
# Opens what was packed as a person's Mac would, and looks at it: the app in the disk image and the one in the package are
# whole, start, and say the version that the files are named after.
set -euo pipefail
version=$(plutil -extract CFBundleShortVersionString raw Info.plist)
work=$(mktemp -d)
trap 'hdiutil detach -quiet "$work/image" || true; rm -rf "$work"' EXIT
hdiutil attach -quiet -readonly -nobrowse -mountpoint "$work/image" "build/release/Fulmen-$version.dmg"
pkgutil --expand-full "build/release/Fulmen-$version.pkg" "$work/package"
job=$(find "$work/package" -path '*/Library/LaunchDaemons/org.fulmen.daemon.plist')
plutil -lint "$job"
for app in "$work/image/Fulmen.app" "$(find "$work/package" -name Fulmen.app -type d)"; do
	build/tools/bin/go run ./cmd/internal/bundle check "$app"
	codesign --verify --deep --strict "$app"
	plutil -lint "$app/Contents/Info.plist" "$app"/Contents/Library/LaunchDaemons/*.plist
	"$app/Contents/MacOS/fulmen" version | grep -F "$version"
	"$app/Contents/MacOS/fulmend" run -version | grep -F "$version"
	"$app/Contents/MacOS/fulmen-rank" info
	"$app/Contents/MacOS/fulmen-app" --self-test
done
