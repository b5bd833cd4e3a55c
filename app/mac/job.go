package mac

import (
	"errors"
	"fmt"
	"strings"
)

const (
	// serviceErrors is the domain of SMAppService's errors, and invalidSignature is
	// kSMErrorInvalidSignature of SMErrors.h in ServiceManagement.
	serviceErrors    = "SMAppServiceErrorDomain"
	invalidSignature = 3
)

// systemError is an NSError.
type systemError struct {
	domain string
	code   int
	text   string
}

// Error is its text, with what names it.
func (e *systemError) Error() string {
	return fmt.Sprintf("%s (%s %d)", strings.TrimSuffix(e.text, "."), e.domain, e.code)
}

// refused is the error of a registration of the daemon; where macOS does not take
// the signature, it says how the daemon is installed without it.
func (b bundle) refused(err error) error {
	if e, ok := errors.AsType[*systemError](err); ok && e.domain == serviceErrors && e.code == invalidSignature {
		return fmt.Errorf("macOS does not accept the signature of this copy of Fulmen: %w. A copy that was built from source has none that it accepts. "+
			"Install a signed release, or the daemon of this copy by hand. Type in Terminal: %s", err, b.jobByHand())
	}
	return err
}

// jobByHand gives launchd the daemon's job as a package for Macs without a screen
// does, with the program by its whole path.
func (b bundle) jobByHand() string { return "sudo " + shellQuoted(b.tool()) + " install --system" }
