package hub

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"fulmen/daemon/api"
	"fulmen/native"
)

const (
	// keptRemedy is what to do when it was cut.
	keptRemedy = "Get it again: what has arrived is kept."
	// namePython is what to do about a Python.
	namePython = "Name a Python that has huggingface_hub as models.python in the configuration, or none."
)

// failure is an error in words for people.
func (g *get) failure(err error) *api.Error {
	name := g.task.Model.Model
	at := g.task.Places.HubFolder()
	if known, ok := errors.AsType[*api.Error](err); ok {
		return known
	}
	if errors.Is(err, errNoHub) {
		return api.Errorf(api.ReasonInterpreterMissing, g.task.Python, "%s has no huggingface_hub.", g.task.Python).WithRemedy(namePython)
	}
	p, ok := errors.AsType[*problem](err)
	switch {
	case ok:
	case errors.Is(err, os.ErrPermission), errors.Is(err, syscall.EROFS):
		p = &problem{Word: "permission", Text: at}
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		p = &problem{Word: "disk_full"}
	default:
		p = &problem{Word: "failed", Text: "the process that gets it broke" + native.ErrnoSuffix(err)}
	}
	login := fmt.Sprintf("Log in as %s on the Mac that gets it: hf auth login, or set HF_TOKEN in that account's environment.", g.task.Account)
	cut := func(format string, args ...any) *api.Error {
		return api.Errorf(api.ReasonModelNotCopied, name, format, args...).WithRemedy(keptRemedy)
	}
	switch p.Word {
	case "gated":
		return api.Errorf(api.ReasonModelGated, name, "Hugging Face does not give %s to %s.", name, g.task.Account).
			WithRemedy("Accept its terms on its page, where it has any. " + login)
	case "repository":
		return api.Errorf(api.ReasonNoSuchModel, name, "Hugging Face has no model %s, or does not show it to %s.", name, g.task.Account).
			WithRemedy(meant(p.Text, "Check the name. Where it is private: "+login))
	case "revision":
		return api.Errorf(api.ReasonNoSuchModel, name, "%s has no revision %q.", name, g.task.Model.Revision).
			WithRemedy(meant(p.Text, "Name a branch, a tag or a commit that its page has."))
	case "busy":
		return cut("Hugging Face still answers that it was asked too often.")
	case "network":
		return cut("The connection to Hugging Face broke: %s.", p.Text)
	case "answer":
		return cut("Hugging Face answered %s.", p.Text)
	case "offline":
		return cut("HF_HUB_OFFLINE keeps %s from Hugging Face.", g.task.Account).WithRemedy("Take it out of that account's environment.")
	case "corrupt":
		return api.Errorf(api.ReasonModelCorrupt, name, "%s of %s did not arrive as Hugging Face describes it. It was removed.", p.Text, name).WithRemedy(keptRemedy)
	case "disk_full":
		return api.Errorf(api.ReasonDiskFull, at, "There is no room for %s: %.1f GB more are needed in %s.", name, float64(p.Lacks)/1e9, at).
			WithRemedy("Free some space, then get it again: what has arrived is kept.")
	case "permission":
		return api.Errorf(api.ReasonPermissionDenied, p.Text, "The account %s may not write to %s.", g.task.Account, p.Text).
			WithRemedy("Give the account the right to write there, or set HF_HUB_CACHE to another folder.")
	}
	return cut("%s could not be got: %s.", name, p.Text)
}

// meant is what to do about a name that is like another one.
func meant(other, remedy string) string {
	if other != "" {
		return fmt.Sprintf("Did you mean %s?", other)
	}
	return remedy
}
