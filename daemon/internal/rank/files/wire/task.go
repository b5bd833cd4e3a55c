package wire

import (
	"fmt"
	"path"
)

// PackTask is what the sender's daemon tells its end. It goes over the standard
// input, not the command line, which every account can read.
type PackTask struct {
	// Folder is what is copied, an absolute path.
	Folder string `json:"folder"`
}

// UnpackTask is what the receiver's daemon tells its end.
type UnpackTask struct {
	// Home is the account's home folder, an absolute path.
	Home string `json:"home"`
	// Area is the folder below it that holds the copy and what belongs to it, a
	// relative path.
	Area string `json:"area"`
	// Name is what the copy is called in it.
	Name string `json:"name"`
}

// DecodePackTask reads a PackTask.
func DecodePackTask(data []byte) (PackTask, error) {
	var t PackTask
	if err := strict(data, &t); err != nil {
		return t, err
	}
	if !path.IsAbs(t.Folder) {
		return t, fmt.Errorf("%w: the folder %.80q", ErrProtocol, t.Folder)
	}
	return t, nil
}

// DecodeUnpackTask reads an UnpackTask.
func DecodeUnpackTask(data []byte) (UnpackTask, error) {
	var t UnpackTask
	if err := strict(data, &t); err != nil {
		return t, err
	}
	if !path.IsAbs(t.Home) || !ValidPath(t.Area) || !ValidPath(t.Name) || path.Base(t.Name) != t.Name {
		return t, fmt.Errorf("%w: the task", ErrProtocol)
	}
	return t, nil
}

// CleanTask has copies removed that nobody needs any more.
type CleanTask struct {
	// Home is the account's home folder, an absolute path.
	Home string `json:"home"`
	// Area is the folder below it that holds a folder for each node, with one for
	// each copied folder in it; a relative path.
	Area string `json:"area"`
	// Before is when a copy must have been asked for last, in nanoseconds since 1970.
	Before int64 `json:"before"`
	// Keep are the copies that stay, as NODE/NAME.
	Keep []string `json:"keep,omitempty"`
}

// DecodeCleanTask reads a CleanTask.
func DecodeCleanTask(data []byte) (CleanTask, error) {
	var t CleanTask
	if err := strict(data, &t); err != nil {
		return t, err
	}
	if !path.IsAbs(t.Home) || !ValidPath(t.Area) {
		return t, fmt.Errorf("%w: the task", ErrProtocol)
	}
	return t, nil
}
