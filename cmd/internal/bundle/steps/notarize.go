package steps

import (
	"path/filepath"
	"strings"
)

// Notary is how Apple's notary knows who asks: a profile in the keychain, or a key.
type Notary struct {
	// Profile is one that `xcrun notarytool store-credentials` has made.
	Profile string
	// KeyFile, KeyID and Issuer are a key of App Store Connect, where there is no profile.
	KeyFile, KeyID, Issuer string
}

// known says whether it suffices.
func (n Notary) known() bool {
	return n.Profile != "" || n.KeyFile != "" && n.KeyID != "" && n.Issuer != ""
}

// Notarize gives the commands that have Apple look at an app, a disk image or a
// package, staple its ticket to it, and check that this Mac would open it.
func Notarize(p Paths, file string, notary Notary) []Step {
	var steps []Step
	sent, kind := file, "open"
	switch filepath.Ext(file) {
	case ".app":
		sent, kind = filepath.Join(p.Work(), strings.TrimSuffix(filepath.Base(file), ".app")+".zip"), "execute"
		steps = append(steps, Step{Why: "pack for the notary", Command: []string{"ditto", "-c", "-k", "--keepParent", file, sent}})
	case ".pkg":
		kind = "install"
	}
	submit := Step{Why: "send it to Apple's notary service; it takes minutes", Command: []string{"xcrun", "notarytool", "submit", sent, "--wait", "--timeout", "30m"}}
	if notary.Profile != "" {
		submit.Command = append(submit.Command, "--keychain-profile", notary.Profile)
	} else {
		submit.Command = append(submit.Command, "--key", notary.KeyFile, "--key-id", notary.KeyID, "--issuer", notary.Issuer)
		submit.Secret = []int{len(submit.Command) - 3, len(submit.Command) - 1}
	}
	assess := []string{"spctl", "--assess", "--verbose=4", "--type", kind}
	if kind == "open" {
		assess = append(assess, "--context", "context:primary-signature")
	}
	return append(steps, submit,
		Step{Why: "staple Apple's ticket to it", Command: []string{"xcrun", "stapler", "staple", file}},
		Step{Why: "check the stapled ticket", Command: []string{"xcrun", "stapler", "validate", file}},
		Step{Why: "check that this Mac would open it", Command: append(assess, file)})
}
