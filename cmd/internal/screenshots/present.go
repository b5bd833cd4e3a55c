//go:build linux

package main

import (
	"context"
	"fmt"

	"fulmen/app"
	"fulmen/app/tray"
	"fulmen/assets/icons"
)

// present shows the menu of a picture until ctx ends, as the app would.
func present(ctx context.Context, name string) error {
	for _, p := range pictures() {
		if p.name != name {
			continue
		}
		screen := tray.New(func(i app.Icon) []byte { return icons.Menu(string(i)) })
		defer screen.Close()
		tray.Loop(func() {
			screen.Ready()
			screen.Draw(app.Build(p.state))
			go func() {
				defer tray.Quit()
				<-ctx.Done()
			}()
		})
		return nil
	}
	return fmt.Errorf("there is no picture %s", name)
}
