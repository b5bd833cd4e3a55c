// Package mac is the shell of the menu-bar app on macOS: questions, the code in
// large letters, notifications, the panes of the settings, the clipboard, the
// registration of the daemon and of the login item, the move to /Applications,
// and the application's own loop, in which app/tray draws its picture.
//
// It calls Objective-C through darwinkit, and by name what darwinkit has no
// functions for; each such call says where its name and types are documented.
// Three rules keep it sound:
//
//   - Objects of the system are touched on the main thread only. Nothing that
//     runs there ever waits: not for a goroutine, not for a lock that is held
//     while somebody waits for the main thread, and not in a loop of its own, as
//     modal dialogs do.
//   - What is kept longer than a turn of the loop is retained and released by
//     hand, on the main thread: darwinkit's finalizers release on another.
//   - Yes and no are read by asks, not by darwinkit's own methods: it gives a
//     byte to libffi, which writes eight.
//
// What decides is plain Go that is tested on every system.
package mac
