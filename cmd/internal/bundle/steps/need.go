package steps

import "strings"

// Variables of the environment that say who signs. None of them is a secret by
// itself: keys lie in the keychain or in a file.
const (
	// SignIdentity is "Developer ID Application: NAME (TEAM)".
	SignIdentity = "FULMEN_SIGN_IDENTITY"
	// InstallerIdentity is "Developer ID Installer: NAME (TEAM)".
	InstallerIdentity = "FULMEN_INSTALLER_IDENTITY"
	// NotaryProfile is a profile in the keychain.
	NotaryProfile = "FULMEN_NOTARY_PROFILE"
	// NotaryKey is the path of a key of App Store Connect, a .p8 file.
	NotaryKey = "FULMEN_NOTARY_KEY"
	// NotaryKeyID is that key's id.
	NotaryKeyID = "FULMEN_NOTARY_KEY_ID"
	// NotaryIssuer is that key's issuer.
	NotaryIssuer = "FULMEN_NOTARY_ISSUER"
)

// Goal is what somebody wants made.
type Goal string

// The goals, by the names of their make targets.
const (
	GoalApp      Goal = "app"
	GoalSign     Goal = "sign"
	GoalNotarize Goal = "notarize"
	GoalImage    Goal = "dmg"
	GoalPackage  Goal = "pkg"
)

// Machine is what is known of the machine that is to do it.
type Machine struct {
	// OS is the system's name, as runtime.GOOS has it.
	OS string
	// Getenv reads a variable of the environment.
	Getenv func(name string) string
	// Has says whether there is a program of that name.
	Has func(program string) bool
	// There says whether there is such a file or folder.
	There func(path string) bool
}

// Notary is who the machine is to Apple's notary.
func (m Machine) Notary() Notary {
	return Notary{m.Getenv(NotaryProfile), m.Getenv(NotaryKey), m.Getenv(NotaryKeyID), m.Getenv(NotaryIssuer)}
}

// Lack is something that is missing, and how to mend it.
type Lack struct {
	// What is missing, in a few words.
	What string
	// Remedy is what to do.
	Remedy string
}

const tools = "xcode-select --install"

// needs are the programs of a goal beside those of the goals before it, and what
// brings them.
func needs(goal Goal) map[string]string {
	switch goal {
	case GoalApp:
		return map[string]string{"go": "make deps", "codesign": tools}
	case GoalSign:
		return map[string]string{"codesign": tools}
	case GoalNotarize:
		return map[string]string{"xcrun": tools, "ditto": "it is a part of macOS", "spctl": "it is a part of macOS"}
	case GoalImage:
		return map[string]string{"hdiutil": "it is a part of macOS", "codesign": tools}
	case GoalPackage:
		return map[string]string{"pkgbuild": tools, "productbuild": tools}
	}
	return nil
}

// Lacks lists what is missing for a goal on a machine, all of it at once.
func Lacks(goal Goal, p Paths, m Machine) []Lack {
	if m.OS != "darwin" {
		return []Lack{{"a Mac", "build the app on one; `make app-check` checks here what can be checked without"}}
	}
	var lacks []Lack
	for _, program := range []string{"go", "codesign", "xcrun", "ditto", "spctl", "hdiutil", "pkgbuild", "productbuild"} {
		if remedy, needed := needs(goal)[program]; needed && !m.Has(program) {
			lacks = append(lacks, Lack{"the program " + program, remedy})
		}
	}
	if goal != GoalApp && !m.There(p.Bundle()) {
		lacks = append(lacks, Lack{"the app", "make app"})
	}
	switch goal {
	case GoalSign:
		identity := m.Getenv(SignIdentity)
		switch {
		case identity == "":
			lacks = append(lacks, Lack{"an identity to sign with", SignIdentity + `="Developer ID Application: NAME (TEAM)"; ` +
				"`security find-identity -v -p codesigning` lists those in the keychain, and a membership in Apple's Developer Program has them made"})
		case identity != AdHoc && (Team(identity) == "" || !strings.HasPrefix(identity, "Developer ID Application: ")):
			lacks = append(lacks, Lack{"a Developer ID in place of " + identity, SignIdentity + `="Developer ID Application: NAME (TEAM)", with the team of ten letters and digits`})
		}
	case GoalNotarize:
		if !m.Notary().known() {
			lacks = append(lacks, Lack{"a login for Apple's notary service", "xcrun notarytool store-credentials PROFILE, then " + NotaryProfile + "=PROFILE; or " +
				strings.Join([]string{NotaryKey, NotaryKeyID, NotaryIssuer}, ", ") + " with a key of App Store Connect"})
		}
	}
	return lacks
}

// Advice lists what is not needed for a goal but makes it worth more.
func Advice(goal Goal, m Machine) []Lack {
	switch {
	case goal == GoalImage && m.Getenv(SignIdentity) == "":
		return []Lack{{"an identity to sign the disk image with", SignIdentity + "; without it the image is for this Mac and for trying"}}
	case goal == GoalPackage && m.Getenv(InstallerIdentity) == "":
		return []Lack{{"an identity to sign the package with", InstallerIdentity + `="Developer ID Installer: NAME (TEAM)"; without it the Installer asks, and other Macs refuse it`}}
	}
	return nil
}
