package daemon

import (
	"context"
	"strings"
	"unicode"
	"unicode/utf8"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/server"
)

// maxFriendlyName is the longest friendly name, in characters.
const maxFriendlyName = 63

// nodeRename gives this node another friendly name.
func (d *daemon) nodeRename(_ context.Context, c *server.Caller, p api.NodeRename) (api.Empty, error) {
	isBad := !utf8.ValidString(p.Name) || strings.TrimSpace(p.Name) != p.Name ||
		strings.ContainsFunc(p.Name, func(r rune) bool { return !unicode.IsPrint(r) })
	if isBad || utf8.RuneCountInString(p.Name) > maxFriendlyName {
		return api.Empty{}, invalid("name", "a name has 1 to %d characters that can be printed, and no space at its ends", maxFriendlyName)
	}
	if err := d.records.SaveName(p.Name); err != nil {
		return api.Empty{}, err
	}
	d.logs.Part("daemon").Info("renamed", "uid", c.UID, "name", p.Name)
	d.facts.Rename(p.Name)
	return api.Empty{}, nil
}
