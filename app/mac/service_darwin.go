package mac

import (
	"errors"

	"github.com/progrium/darwinkit/objc"

	"fulmen/daemon/api"
)

const (
	// daemonPlist is the file of launchd in Contents/Library/LaunchDaemons of the bundle.
	daemonPlist = api.DaemonLabel + ".plist"
	// packagePlist is where a package, or fulmen install, registers the daemon.
	packagePlist = "/Library/LaunchDaemons/" + daemonPlist
)

// service is an SMAppService, ServiceManagement, macOS 13 and newer; from
// SMAppService.h:
//
//   - (instancetype)daemonServiceWithPlistName:(NSString *)plistName
//     @property (class, readonly) SMAppService *mainAppService
//     @property (readonly) SMAppServiceStatus status   (NSInteger)
//   - (BOOL)registerAndReturnError:(NSError **)error
//   - (BOOL)unregisterAndReturnError:(NSError **)error
//   - (void)openSystemSettingsLoginItems
type service struct{ objc.Object }

// daemonService is the registration of the daemon, and loginService that of the
// app to be opened at login. They are nothing where the system has no such class.
func daemonService() service { return serviceOf("daemonServiceWithPlistName:", daemonPlist) }

func loginService() service { return serviceOf("mainAppService") }

func serviceOf(message string, values ...any) service {
	c, found := class("SMAppService")
	if !found {
		return service{}
	}
	return service{object(c, message, values...)}
}

// status is how the registration stands.
func (s service) status() status {
	if s.IsNil() {
		return notFound
	}
	return status(objc.Call[int](s, objc.Sel("status")))
}

// register asks for the registration. Where the person must approve it first,
// that is no error: its status says so.
func (s service) register() error {
	if s.IsNil() {
		return errors.New("this macOS cannot run Fulmen in the background: it needs macOS " + api.MinMacOS)
	}
	if err := tries(s, "registerAndReturnError:"); err != nil && s.status() != requiresApproval {
		return err
	}
	return nil
}

// unregister takes it back.
func (s service) unregister() error {
	if s.IsNil() {
		return nil
	}
	return tries(s, "unregisterAndReturnError:")
}

// openLoginItems shows the pane where the person approves.
func openLoginItems() {
	if c, found := class("SMAppService"); found {
		do(c, "openSystemSettingsLoginItems")
	}
}
