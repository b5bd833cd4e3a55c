package facts

import (
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/native"
)

func TestALinuxWithoutMemoryPressureSaysSo(t *testing.T) {
	is := is.New(t)
	silent := native.Capabilities{native.HintsFeature(native.AreaMemory): {Reason: native.ReasonNoOS.With("no /proc/pressure")}}
	code, why := MissesPressure("linux", silent)
	is.Equal(code, api.ReasonPSIUnavailable)
	is.Equal(why, "no /proc/pressure")
	code, _ = MissesPressure("darwin", silent)
	is.Equal(code, api.Reason(""))
	code, _ = MissesPressure("linux", native.Capabilities{native.HintsFeature(native.AreaMemory): {Supported: true}})
	is.Equal(code, api.Reason(""))
}
