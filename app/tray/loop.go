package tray

import "fyne.io/systray"

// Loop runs the system's loop with the picture in it until Quit; ready is called
// once it runs.
func Loop(ready func()) { systray.Run(ready, nil) }

// Quit ends the loop.
func Quit() { systray.Quit() }
