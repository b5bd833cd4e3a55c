package methods

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/config"
	"fulmen/daemon/internal/server"
	"fulmen/daemon/internal/simulate"
)

// Settings are the methods that read and change how this daemon is set.
type Settings struct {
	Live *config.Live
	// SaveName keeps the name that a person gives this node, and Rename publishes it.
	SaveName func(string) error
	Rename   func(string)
	// Simulation is the simulated Mac; nil where there is none.
	Simulation *simulate.Simulation
	Log        *slog.Logger
}

// Handlers are the methods.
func (d Settings) Handlers() server.Handlers {
	return server.Handlers{
		"daemon.config":     server.Handle(d.config),
		"daemon.set_config": server.Handle(d.setConfig),
		"daemon.simulate":   server.Handle(d.simulate),
		"node.rename":       server.Handle(d.nodeRename),
	}
}

// maxFriendlyName is the longest friendly name, in characters.
const maxFriendlyName = 63

// nodeRename gives this node another friendly name.
func (d Settings) nodeRename(_ context.Context, c *server.Caller, p api.NodeRename) (api.Empty, error) {
	isBad := !utf8.ValidString(p.Name) || strings.TrimSpace(p.Name) != p.Name ||
		strings.ContainsFunc(p.Name, func(r rune) bool { return !unicode.IsPrint(r) })
	if isBad || utf8.RuneCountInString(p.Name) > maxFriendlyName {
		return api.Empty{}, api.BadValue("name", "a name has 1 to %d characters that can be printed, and no space at its ends", maxFriendlyName)
	}
	if err := d.SaveName(p.Name); err != nil {
		return api.Empty{}, err
	}
	d.Log.Info("renamed", "uid", c.UID, "name", p.Name)
	d.Rename(p.Name)
	return api.Empty{}, nil
}

func (d Settings) config(context.Context, *server.Caller, api.Empty) (api.DaemonConfigResult, error) {
	return d.Live.Listing(), nil
}

func (d Settings) setConfig(_ context.Context, c *server.Caller, p api.DaemonSetConfigParams) (api.Empty, error) {
	var changes []config.Change
	for key, raw := range p.Set {
		var value any
		if err := json.Unmarshal(raw, &value); err != nil {
			return api.Empty{}, api.Errorf(api.ReasonBadValue, key, "the value of %s is not JSON", key)
		}
		changes = append(changes, config.Change{Key: key, Value: value})
	}
	for _, key := range p.Unset {
		changes = append(changes, config.Change{Key: key})
	}
	slices.SortFunc(changes, func(a, b config.Change) int { return strings.Compare(a.Key, b.Key) })
	if err := d.Live.Set(changes...); err != nil {
		return api.Empty{}, err
	}
	d.Log.Info("configuration changed", "uid", c.UID, "keys", len(changes))
	return api.Empty{}, nil
}

// simulate changes the simulated cluster.
func (d Settings) simulate(_ context.Context, c *server.Caller, p api.DaemonSimulateParams) (api.Empty, error) {
	if d.Simulation == nil {
		return api.Empty{}, api.NewError(api.ReasonNotSimulated, "")
	}
	change, err := d.Simulation.Change(p.Line)
	if err != nil {
		return api.Empty{}, err
	}
	d.Log.Info("the simulated cluster was changed", "uid", c.UID, "change", change)
	return api.Empty{}, nil
}
