package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/client"
)

const (
	// identityDeadline bounds the wait for the worker to tell what MLX it has.
	identityDeadline = 30 * time.Second
	// lineEvery is how often a line is printed where there is no terminal.
	lineEvery = 10 * time.Second
)

// showMachine prints what this machine is, once the daemon knows its MLX.
func showMachine(ctx context.Context, c *client.Client) error {
	ctx, cancel := context.WithTimeoutCause(ctx, identityDeadline, errors.New("the daemon did not learn in 30 s what MLX there is"))
	defer cancel()
	for event, err := range c.Watch(ctx, api.StateSelect{Kinds: []api.Kind{api.KindIdentity}}) {
		if err != nil {
			return err
		}
		for _, document := range event.Put {
			var identity api.Identity
			if err := document.Decode(&identity); err != nil {
				return err
			}
			if document.Unknown["mlx_version"] != api.ReasonNotYetRead {
				printMachine(os.Stdout, identity)
				return nil
			}
		}
	}
	return context.Cause(ctx)
}

// showLive shows memory and load as they move, until the context ends.
func showLive(ctx context.Context, c *client.Client, screen *screen) error {
	var view client.View
	var last time.Time
	for event, err := range c.Watch(ctx, api.StateSelect{Kinds: []api.Kind{api.KindMemory, api.KindSystem}}) {
		if err != nil {
			return err
		}
		view.Apply(event)
		if !screen.terminal && time.Since(last) < lineEvery {
			continue
		}
		last = time.Now()
		screen.status(liveLine(view.Docs()))
	}
	return ctx.Err()
}

// liveLine is the state of this machine in a line.
func liveLine(documents []api.Document) string {
	var parts []string
	for _, document := range documents {
		switch document.Kind {
		case api.KindMemory:
			var memory api.Memory
			if document.Decode(&memory) == nil && memory.UsedBytes != nil && memory.TotalBytes != nil {
				parts = append(parts, fmt.Sprintf("memory %s of %s", size(uint64(*memory.UsedBytes)), size(uint64(*memory.TotalBytes))))
			}
		case api.KindSystem:
			var system api.System
			if document.Decode(&system) != nil {
				continue
			}
			if system.CPUUseRatio != nil {
				parts = append(parts, fmt.Sprintf("CPU %.0f %%", *system.CPUUseRatio*100))
			}
			if system.GPUUseRatio != nil {
				parts = append(parts, fmt.Sprintf("GPU %.0f %%", *system.GPUUseRatio*100))
			}
			if system.SystemPowerWatts != nil {
				parts = append(parts, fmt.Sprintf("%.0f W", *system.SystemPowerWatts))
			}
		}
	}
	return strings.Join(parts, "   ")
}
