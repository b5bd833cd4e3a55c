package machine

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/mlxbridge"
)

func TestBLASName(t *testing.T) {
	for library, want := range map[string]string{
		"/usr/lib/x86_64-linux-gnu/libopenblas.so.0":                 "openblas",
		"/x/mlx_cpu.libs/libblas-bd8a282c.so.3.10.0":                 "reference",
		"/System/Library/Frameworks/Accelerate.framework/Accelerate": "accelerate",
		"/opt/libmkl_rt.so.2":                                        "mkl_rt",
		"":                                                           "unknown",
	} {
		is.New(t).Equal(blasName(mlxbridge.BLAS{Library: library}), want)
	}
	// Debian's alternatives may call OpenBLAS by another name; what it says of
	// itself counts.
	is.New(t).Equal(blasName(mlxbridge.BLAS{Library: "/usr/lib/libblas.so.3", Config: "OpenBLAS 0.3.21"}), "openblas")
}

func TestInfoOfThisMachine(t *testing.T) {
	is := is.New(t)
	info, err := Info()
	is.NoErr(err)
	is.Equal(info.MLXVersion, "0.32.4") // the pinned one
	is.True(len(info.Devices) > 0)
	first, err := mlxbridge.DefaultDevice()
	is.NoErr(err)
	is.Equal(info.Devices[0].Type, string(first.Type)) // the default comes first
	is.True(info.Devices[0].Architecture != "")
	is.True(len(info.Backends) > 0)
	is.True(info.BLAS.Name != "unknown")
}

func TestUnknownIsLeftOut(t *testing.T) {
	is := is.New(t)
	text, err := json.Marshal(Device(mlxbridge.DeviceInfo{Device: mlxbridge.Device{Type: mlxbridge.CPU}}))
	is.NoErr(err)
	is.True(!strings.Contains(string(text), "memory")) // not 0
}
