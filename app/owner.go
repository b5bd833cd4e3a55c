package app

import "fulmen/daemon/api"

// OwnerQuestion asks before the app is made the system's, which takes an
// administrator's password.
func OwnerQuestion() Confirm {
	return Confirm{Title: "Protect Fulmen from changes?", Button: "Continue",
		Text: "Fulmen's daemon runs as the system. It asks for an administrator's password once, so that nobody else can change it."}
}

// NotOwned is what to say where the app stays a person's: what does not work, and
// how it is mended by hand. The command is for a shell.
func NotOwned(bundle, command string) *api.Error {
	e := api.Errorf(api.ReasonInsecurePermissions, bundle,
		"Fulmen.app still belongs to you. Fulmen shows the cluster, but runs no job and no measurement on this Mac.")
	e.Data.Remedy = "Choose Mend in the menu when you have the password, or type in Terminal: " + command
	return e
}
