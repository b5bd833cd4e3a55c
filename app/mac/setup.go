package mac

import (
	"strings"

	"golang.org/x/mod/semver"

	"fulmen/app"
	"fulmen/daemon/api"
)

// status is what SMAppService says of a service; the numbers are those of
// SMAppServiceStatus in ServiceManagement's SMAppService.h, macOS 13 and newer.
type status int

const (
	notRegistered    status = 0
	enabled          status = 1
	requiresApproval status = 2
	notFound         status = 3
)

// facts are what the setup of the app is judged by.
type facts struct {
	bundle bundle
	// system is the version of macOS; empty where it cannot be told.
	system string
	// daemon is the status of the daemon's registration.
	daemon status
	// wasEnabled says that the daemon's registration has been in force.
	wasEnabled bool
	// isPersons says that others than root can change what the daemon starts.
	isPersons bool
	// hasPackage says that a package for Macs without a screen has installed the
	// daemon, with launchd's file in /Library/LaunchDaemons.
	hasPackage bool
}

// setup is how the app is installed, as far as it keeps Fulmen from working. A
// program outside a bundle is a developer's, who starts the daemon too.
func (f facts) setup() app.Setup {
	switch {
	case f.system != "" && older(f.system, api.MinMacOS):
		return app.SetupSystemTooOld
	case f.bundle.Path == "":
		return app.SetupGood
	case f.hasPackage:
		return f.whose()
	case !f.bundle.isInstalled():
		return app.SetupOutsideApplications
	}
	switch f.daemon {
	case enabled:
		return f.whose()
	case requiresApproval:
		if f.wasEnabled {
			return app.SetupWithdrawn
		}
		return app.SetupNeedsApproval
	case notRegistered, notFound:
	}
	return app.SetupNotRegistered
}

// whose is how an app is set up whose daemon runs.
func (f facts) whose() app.Setup {
	if f.isPersons {
		return app.SetupPersons
	}
	return app.SetupGood
}

// older reports whether a version is older than another, part by part; what has no
// numbers is older than all.
func older(version, than string) bool { return semver.Compare("v"+version, "v"+than) < 0 }

// spelled is a code as a screen reader should say it: letter by letter, with a
// pause between the groups.
func spelled(code string) string {
	groups := strings.Split(code, "-")
	for i, g := range groups {
		groups[i] = strings.Join(strings.Split(g, ""), " ")
	}
	return strings.Join(groups, ", ")
}

// mayOpen reports whether an address is one that the app opens: pages, and panes
// of the settings. Addresses come from the daemon too.
func mayOpen(address string) bool {
	for _, start := range []string{"http://127.0.0.1:", "http://localhost:", "http://[::1]:", "https://", "x-apple.systempreferences:"} {
		if strings.HasPrefix(address, start) {
			return true
		}
	}
	return false
}

// linkScript is AppleScript that links the command line tool to where shells
// find it, with the rights of an administrator.
func linkScript(tool, link string) string {
	folder := link[:strings.LastIndexByte(link, '/')]
	command := "/bin/mkdir -p " + shellQuoted(folder) + " && /bin/ln -sfn " + shellQuoted(tool) + " " + shellQuoted(link)
	return administratorScript(command, "Fulmen links its command line tool to "+link+".")
}

// administratorScript is AppleScript that runs a command of sh as an
// administrator, whose password is asked for with a reason.
func administratorScript(command, why string) string {
	return "do shell script " + scriptQuoted(command) + " with prompt " + scriptQuoted(why) + " with administrator privileges"
}

// shellQuoted is a word for sh.
func shellQuoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// scriptQuoted is a text of AppleScript.
func scriptQuoted(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}
