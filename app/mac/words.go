package mac

import "strings"

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
