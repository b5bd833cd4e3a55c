package mac

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"fulmen/app"
	"fulmen/daemon/api"
)

const (
	// toolLink is where shells find the command line tool.
	toolLink = "/usr/local/bin/fulmen"
	// tools is the folder of the system's tools.
	tools = "/usr/bin/"
)

// Do does what only the system can.
func (s *Shell) Do(ctx context.Context, what app.AppDo) error {
	switch what {
	case app.AppMove:
		return s.move(ctx)
	case app.AppRegister:
		s.offersToOwn(ctx)
		return s.facts.bundle.refused(s.registers(ctx, daemonService, true))
	case app.AppStart:
		return s.facts.bundle.refused(s.registers(ctx, daemonService, true))
	case app.AppOwn:
		return s.own(ctx)
	case app.AppLaunchAtLogin:
		return s.registers(ctx, loginService, !s.LaunchesAtLogin())
	case app.AppInstallCLI:
		return s.link(ctx)
	case app.AppQuit, app.AppNotifications, app.AppTitle, app.AppDiagnostics:
	}
	return fmt.Errorf("macOS cannot do %s", what)
}

// registers puts a registration in force or takes it back. One that waits for
// the person's approval shows where that is given.
func (s *Shell) registers(ctx context.Context, which func() service, on bool) error {
	err, _ := fromMain(ctx, func() error {
		defer s.look()
		registration := which()
		if !on {
			return registration.unregister()
		}
		err := registration.register()
		if err == nil && registration.status() == requiresApproval {
			openLoginItems()
		}
		return err
	})
	return err
}

// offersToOwn asks before the registration, and says where the app stays the
// person's: the daemon is registered all the same, and says so too.
func (s *Shell) offersToOwn(ctx context.Context) {
	here := s.facts.bundle
	if !here.isPersons(ownerOf) {
		return
	}
	err := error(app.NotOwned(here.Path, here.byHand()))
	if question := app.OwnerQuestion(); s.Confirm(ctx, question) {
		err = s.own(ctx)
	}
	if e, ok := errors.AsType[*api.Error](err); ok && ctx.Err() == nil {
		s.Failed(ctx, "Protect Fulmen from Changes", e.Message+" "+e.Data.Remedy)
	}
}

// own makes the app root's alone. A person who thinks better of the password is
// told what does not work without it.
func (s *Shell) own(ctx context.Context) error {
	defer onMain(s.look)
	here := s.facts.bundle
	if err := runs(ctx, "osascript", "-e", here.ownScript()); err != nil {
		e := app.NotOwned(here.Path, here.byHand())
		if !isCancelled(err) {
			e.Message = fmt.Sprintf("macOS did not change it: %v. %s", err, e.Message)
		}
		return e
	}
	return nil
}

// move brings the app to /Applications and opens it there; where the copy that is
// there is root's, as an administrator, who makes the new one root's too.
func (s *Shell) move(ctx context.Context) error {
	from, to := s.facts.bundle, s.facts.bundle.installed()
	var err error
	if needsAdministrator(to.Path, uint32(os.Getuid()), unix.Access(applications, unix.W_OK) == nil, ownerOf) {
		if err = runs(ctx, "osascript", "-e", replaceScript(from.Path, to.Path)); isCancelled(err) {
			return nil // the person thought better of it
		}
	} else {
		err = copies(ctx, from.Path, to.Path)
	}
	if err != nil {
		return notMoved(err)
	}
	if err := runs(ctx, "open", "-n", to.Path); err != nil {
		return err
	}
	s.quit()
	return nil
}

// copies puts an app into its place. The copy is made beside it and renamed, so that
// there is never half an app; an old one goes to the Trash. What the download was
// marked with is taken off, as the Finder does for what a person moves: else macOS
// would run it from a folder of its own making again.
func copies(ctx context.Context, from, to string) error {
	part := filepath.Join(applications, ".Fulmen-"+fmt.Sprint(os.Getpid())+".app")
	defer os.RemoveAll(part)
	err := runs(ctx, "ditto", from, part)
	if err == nil {
		err = runs(ctx, "xattr", "-dr", "com.apple.quarantine", part)
	}
	if err == nil {
		err = discard(to)
	}
	if err == nil {
		err = os.Rename(part, to)
	}
	return err
}

// discard puts what lies at a path into the person's Trash; nothing there is well.
func discard(path string) error {
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return err
	}
	into, err := os.MkdirTemp(filepath.Join(home, ".Trash"), "Fulmen ")
	if err != nil {
		return err
	}
	return os.Rename(path, filepath.Join(into, filepath.Base(path)))
}

// link links the command line tool, as an administrator where that is needed.
func (s *Shell) link(ctx context.Context) error {
	tool := s.facts.bundle.tool()
	if !s.facts.bundle.isInstalled() {
		return errors.New("move Fulmen to the Applications folder first")
	}
	if old, err := os.Readlink(toolLink); err == nil && old == tool {
		return nil
	}
	if os.Symlink(tool, toolLink) == nil {
		return nil
	}
	err := runs(ctx, "osascript", "-e", linkScript(tool, toolLink))
	if isCancelled(err) {
		return nil // the person thought better of it
	}
	return err
}

// isCancelled reports whether the person gave no password: osascript ends with the
// number of userCanceledErr.
func isCancelled(err error) bool { return err != nil && strings.Contains(err.Error(), "(-128)") }

// runs runs a tool of the system, and says what it said where it fails.
func runs(ctx context.Context, program string, args ...string) error {
	out, err := exec.CommandContext(ctx, tools+program, args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w: %s", program, err, strings.TrimSpace(string(out)))
	}
	return nil
}
