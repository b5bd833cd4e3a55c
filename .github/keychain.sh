#!/bin/bash
# Puts the keys of a release into a keychain of this run alone, and says to the steps that follow who signs. Without the
# secrets it says which are missing and fails: a tag must not become an unsigned release.
set -euo pipefail
missing=()
for name in DEVELOPER_ID_P12 DEVELOPER_ID_P12_PASSWORD NOTARY_KEY_P8 NOTARY_KEY_ID NOTARY_ISSUER_ID; do
	[ -n "${!name:-}" ] || missing+=("$name")
done
if [ "${#missing[@]}" -gt 0 ]; then
	echo "These secrets of the environment \"release\" are missing: ${missing[*]}. The workflow's head says what each is." >&2
	exit 1
fi
keychain=$RUNNER_TEMP/release.keychain-db
password=$(openssl rand -hex 32)
umask 077
echo "$DEVELOPER_ID_P12" | base64 --decode >"$RUNNER_TEMP/keys.p12"
security create-keychain -p "$password" "$keychain"
security set-keychain-settings -lut 7200 "$keychain"
security unlock-keychain -p "$password" "$keychain"
security import "$RUNNER_TEMP/keys.p12" -k "$keychain" -P "$DEVELOPER_ID_P12_PASSWORD" -T /usr/bin/codesign -T /usr/bin/productbuild
rm "$RUNNER_TEMP/keys.p12"
# Without this the first use of a key asks on a screen that nobody sees.
security set-key-partition-list -S apple-tool:,apple: -s -k "$password" "$keychain" >/dev/null
security list-keychains -d user -s "$keychain" login.keychain-db
echo "$NOTARY_KEY_P8" | base64 --decode >"$RUNNER_TEMP/notary.p8"
identity() { # the name of the first certificate of a kind
	security find-certificate -a -c "$1" "$keychain" | sed -n 's/.*"labl"<blob>="\(.*\)"/\1/p' | head -1
}
{
	echo "FULMEN_SIGN_IDENTITY=$(identity 'Developer ID Application')"
	echo "FULMEN_INSTALLER_IDENTITY=$(identity 'Developer ID Installer')"
	echo "FULMEN_NOTARY_KEY=$RUNNER_TEMP/notary.p8"
	echo "FULMEN_NOTARY_KEY_ID=$NOTARY_KEY_ID"
	echo "FULMEN_NOTARY_ISSUER=$NOTARY_ISSUER_ID"
} >>"$GITHUB_ENV"
