package uninstall

import (
	"bytes"
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"fulmen/assets"
	"fulmen/daemon/api"
	"fulmen/daemon/internal/home"
	"fulmen/native/plist"
)

const (
	// bootedOutWithin is how long launchd may take to end a job: it answers before that
	// is gone, which drains for 5 s and gets 15.
	bootedOutWithin = 20 * time.Second
	// bootedOutEvery is how often it is looked; launchd announces it to nobody.
	bootedOutEvery = 100 * time.Millisecond
)

// Install says what has the system start the daemon, and with which commands; where
// write is set it does so, as who may. The same again changes nothing, and starts a
// daemon that does not run.
func Install(ctx context.Context, o Options, write bool) (api.InstallPlan, error) {
	plan := api.InstallPlan{Files: []api.InstallFile{}}
	if err := o.mayInstall(ctx, write); err != nil {
		return plan, err
	}
	if write && o.isUsers() {
		if err := o.Folders.Create(); err != nil { // launchd makes none
			return plan, err
		}
	}
	isChanged := false
	for _, f := range o.serviceFiles() {
		if f.asset == "" {
			continue
		}
		text, err := o.text(f.asset)
		if err != nil {
			return plan, err
		}
		there, _ := os.ReadFile(f.path) // what cannot be read is written
		file := api.InstallFile{Path: f.path, IsCurrent: bytes.Equal(there, text)}
		plan.Files = append(plan.Files, file)
		isChanged = isChanged || !file.IsCurrent
		if !write || file.IsCurrent {
			continue
		}
		if err = os.MkdirAll(filepath.Dir(f.path), 0o755); err == nil {
			err = home.WriteFile(f.path, text, 0o644)
		}
		if err != nil {
			return plan, home.Explain(err, "write", f.path)
		}
	}
	for _, command := range o.startCommands(ctx, isChanged) {
		words := strings.Join(command, " ")
		plan.Commands = append(plan.Commands, words)
		if !write {
			continue
		}
		err := o.does(ctx, command)
		if err == nil && slices.Contains(command, "bootout") {
			err = o.bootedOut(ctx)
		}
		if err != nil {
			return plan, api.AsError(err).WithRemedy(cmp.Or(o.remedy(), "Fix that, then install again."))
		}
	}
	return plan, nil
}

// remedy is what is often the reason that an account's daemon cannot be started.
func (o Options) remedy() string {
	if !o.isUsers() {
		return ""
	}
	return "This account has to be logged in at this machine. Or install for all of it: sudo fulmen install --system"
}

// startCommands have the system read what was installed, and start it.
func (o Options) startCommands(ctx context.Context, isChanged bool) (all [][]string) {
	if o.OS != "darwin" {
		all = append(all, o.systemctl("daemon-reload"))
		if isChanged {
			all = append(all, o.systemctl("try-restart", "fulmend.service"))
		}
		return append(all, o.systemctl(append([]string{"enable", "--now"}, o.units()...)...))
	}
	domain, job := o.job()
	isLoaded := o.does(ctx, launchctl("print", job)) == nil
	if isLoaded && !isChanged {
		return append(all, launchctl("kickstart", job)) // which leaves one that runs alone
	}
	if isLoaded {
		all = append(all, launchctl("bootout", job))
	}
	return append(all, launchctl("enable", job), launchctl("bootstrap", domain, o.serviceFiles()[0].path))
}

// bootedOut waits until launchd has dropped the job.
func (o Options) bootedOut(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, bootedOutWithin)
	defer cancel()
	_, job := o.job()
	for ctx.Err() == nil {
		if o.does(ctx, launchctl("print", job)) != nil && ctx.Err() == nil {
			return nil
		}
		select {
		case <-ctx.Done():
		case <-time.After(bootedOutEvery):
		}
	}
	return api.Errorf(api.ReasonDeadline, job, "launchd did not end %s within %s.", job, bootedOutWithin)
}

// mayInstall refuses where something else starts the daemon, or nothing can.
func (o Options) mayInstall(ctx context.Context, write bool) error {
	system := o
	system.Folders.Mode = api.ModeSystem
	isPresent := slices.ContainsFunc(system.serviceFiles(), func(f serviceFile) bool { return isThere(f.path) && (o.isUsers() || f.stays != "") })
	running := o.systemctl("is-active", "--quiet", "fulmend.service")
	switch {
	case o.IsAlone:
		return api.Errorf(api.ReasonBadValue, api.EnvHome, "%s is set, and neither launchd nor systemd start a daemon with it.", api.EnvHome).
			WithRemedy("Unset it; or start that daemon yourself: fulmend")
	case !o.isUsers() && o.UID != 0 && write:
		return api.NewError(api.ReasonAdminRequired, "").WithRemedy("Install as root: sudo fulmen install --system")
	case isPresent && o.isUsers():
		return managed("Fulmen is installed for everybody on this machine.", "Nothing has to be done: the system starts it. For this account alone, first: sudo fulmen uninstall")
	case isPresent:
		return managed("A package of the system has installed Fulmen.", "Start it: systemctl enable --now "+strings.Join(systemUnits, " "))
	case o.OS == "darwin":
		_, job := system.job()
		if !isThere(system.serviceFiles()[0].path) && o.does(ctx, launchctl("print", job)) == nil {
			return managed("The app has registered the daemon.", "Nothing has to be done: the system starts it. Without the app's, turn Fulmen off in System Settings, Login Items, and install again.")
		}
		_, job = o.job()
		running = launchctl("print", job)
	default:
		if err := o.does(ctx, o.systemctl("show", "--property=Version")); err != nil {
			return api.Errorf(api.ReasonNotSupportedByPlatform, "systemd", "systemd does not answer here: %s", api.AsError(err).Message).
				WithRemedy(cmp.Or(o.remedy(), "Have what starts programs on this machine run: "+filepath.Join(o.Programs, "fulmend")+" run -quiet"))
		}
	}
	if err := o.Folders.CheckProgram(filepath.Join(o.Programs, "fulmend")); err != nil {
		return err
	}
	if !isThere(o.Folders.State) || o.does(ctx, running) == nil {
		return nil
	}
	lock, err := o.Folders.Lock()
	if err != nil { // somebody has started a daemon by hand
		return api.AsError(err).WithRemedy("Stop it, then install again: fulmen stop")
	}
	return lock.Release()
}

// managed is the refusal where another service starts the daemon.
func managed(message, remedy string) error {
	return api.Errorf(api.ReasonAlreadyRunning, api.DaemonLabel, "%s", message).WithRemedy(remedy)
}

// text is a file as it is installed, with the program where it lies.
func (o Options) text(asset string) ([]byte, error) {
	text, err := assets.Service(asset)
	if err != nil {
		return nil, err
	}
	program := filepath.Join(o.Programs, "fulmend")
	if o.OS != "darwin" {
		quoted := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "%", "%%").Replace(program)
		return bytes.Replace(text, []byte("ExecStart=/opt/fulmen/build/bin/fulmend"), []byte(`ExecStart="`+quoted+`"`), 1), nil
	}
	v, err := plist.Parse(text)
	if err != nil {
		return nil, err
	}
	job := v.(map[string]any)
	delete(job, "BundleProgram")
	job["Program"] = program
	if o.isUsers() {
		socket := job["Sockets"].(map[string]any)[api.ActivationUnix].(map[string]any)
		socket["SockPathName"] = filepath.Join(o.Folders.Runtime, api.SocketFile)
		job["Sockets"] = map[string]any{api.ActivationUnix: socket} // the port may be the one of another account's
		job["StandardErrorPath"] = filepath.Join(o.Folders.Logs, crashFile)
	}
	return plist.Write(job)
}
