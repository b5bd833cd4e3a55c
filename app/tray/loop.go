package tray

import "fyne.io/systray"

// Loop runs the system's loop with the picture in it until Quit; ready is called
// once it runs.
func Loop(ready func()) { systray.Run(ready, nil) }

// Quit ends the loop.
func Quit() { systray.Quit() }

// External readies the picture for a loop that somebody else runs; ready is
// called once the picture is there. What it gives is to be called on the main
// thread when that loop has begun.
func External(ready func()) (start func()) {
	start, _ = systray.RunWithExternalLoop(ready, nil)
	return start
}
