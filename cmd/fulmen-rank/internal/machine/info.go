package machine

import (
	"path/filepath"
	"runtime"
	"strings"

	"fulmen/daemon/api/worker"
	"fulmen/mlxbridge"
)

// Info asks MLX for everything.
func Info() (worker.Info, error) {
	build, err := mlxbridge.Build()
	if err != nil {
		return worker.Info{}, err
	}
	devices, err := devices()
	if err != nil {
		return worker.Info{}, err
	}
	return worker.Info{
		Protocol:    worker.ProtocolVersion,
		MLXVersion:  build.Version,
		OS:          runtime.GOOS,
		Arch:        runtime.GOARCH,
		CPUs:        runtime.NumCPU(),
		Backends:    build.Backends,
		Distributed: build.Distributed,
		BLAS:        BLAS(build.BLAS),
		Devices:     devices,
	}, nil
}

// devices lists MLX's devices, the default one first.
func devices() ([]worker.Device, error) {
	all, err := mlxbridge.Devices()
	if err != nil {
		return nil, err
	}
	first, err := mlxbridge.DefaultDevice()
	if err != nil {
		return nil, err
	}
	var list []worker.Device
	for _, device := range all {
		info, err := mlxbridge.Info(device)
		if err != nil {
			return nil, err
		}
		if device == first {
			list = append([]worker.Device{Device(info)}, list...)
		} else {
			list = append(list, Device(info))
		}
	}
	return list, nil
}

// Device gives the protocol's form of a device.
func Device(info mlxbridge.DeviceInfo) worker.Device {
	known := func(value *uint64) uint64 {
		if value == nil {
			return 0 // left out of the message
		}
		return *value
	}
	return worker.Device{
		Type:            string(info.Type),
		Index:           info.Index,
		Name:            info.Name,
		Architecture:    info.Architecture,
		MemoryBytes:     known(info.MemoryBytes),
		MaxBufferBytes:  known(info.MaxBufferBytes),
		WorkingSetBytes: known(info.WorkingSetBytes),
	}
}

// BLAS gives the protocol's form of the linear algebra library.
func BLAS(blas mlxbridge.BLAS) worker.BLAS {
	form := worker.BLAS{Name: blasName(blas), Path: blas.Library, Config: blas.Config}
	if blas.Threads != nil {
		form.Threads = *blas.Threads
	}
	return form
}

// blasName is the short name of a library. What the wheel brings is called
// libblas with a hash in its name.
func blasName(blas mlxbridge.BLAS) string {
	file := strings.ToLower(filepath.Base(blas.Library))
	switch {
	case blas.Config != "" || strings.Contains(file, "openblas"):
		return "openblas"
	case strings.Contains(file, "accelerate") || strings.Contains(file, "veclib"):
		return "accelerate"
	case strings.HasPrefix(file, "libblas-"):
		return "reference"
	case file == "." || file == "":
		return "unknown"
	}
	return strings.TrimPrefix(strings.SplitN(file, ".", 2)[0], "lib")
}
