package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"fulmen/daemon/api"
	"fulmen/daemon/api/worker"
)

// printMachine prints what this machine is.
func printMachine(out io.Writer, identity api.Identity) {
	fmt.Fprintf(out, "%s: %s", identity.Name, or(identity.ModelName, or(identity.Chip, identity.Architecture)))
	if identity.CPUCores != nil {
		fmt.Fprintf(out, ", %d cores", *identity.CPUCores)
	}
	fmt.Fprintf(out, ", %s %s\n", identity.OSName, identity.OSVersion)
	if identity.MLXVersion == "" {
		fmt.Fprintln(out, "  MLX is not there: run make build")
		return
	}
	fmt.Fprintf(out, "  MLX %s on %s, groups over %s\n", identity.MLXVersion, list(identity.MLXDevices), list(identity.MLXBackends))
}

// printProfile prints what the GPU was measured to give.
func printProfile(out io.Writer, profile api.GPUProfile) {
	fmt.Fprintf(out, "%s, measured in %.1f s\n", or(profile.DeviceName, string(profile.Device)), profile.TookS)
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	product := func(dtype string, tflops *float64, timing *api.Timing) {
		if tflops != nil {
			fmt.Fprintf(table, "  matmul %s\t%s\t%s\n", dtype, flops(*tflops), agreement(timing))
		}
	}
	product("float16", profile.FP16TFLOPS, profile.FP16Timing)
	product("float32", profile.FP32TFLOPS, profile.FP32Timing)
	if profile.MemoryBytesPerS != nil {
		fmt.Fprintf(table, "  memory\t%s\t%s\n", rate(float64(*profile.MemoryBytesPerS)), agreement(profile.MemoryTiming))
	}
	table.Flush()
	if profile.Conditions.BLAS == "reference" {
		fmt.Fprintln(out, "  This BLAS is some 30 times slower than OpenBLAS: install libopenblas0-pthread.")
	}
}

// agreement says how far a number can be trusted.
func agreement(t *api.Timing) string {
	if t == nil {
		return ""
	}
	return fmt.Sprintf("best of %d, median %.1f %% slower", t.Runs, t.SpreadRatio*100)
}

// or is the first text that is not empty.
func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// list joins words.
func list[S ~string](words []S) string {
	texts := make([]string, len(words))
	for i, word := range words {
		texts[i] = string(word)
	}
	return strings.Join(texts, ", ")
}

func printAllReduce(out io.Writer, result worker.AllReduce) {
	fmt.Fprintf(out, "\nall_sum between %d workers on this machine over %s, %s\n", result.Size, result.Backend, result.DType)
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "  message\ttime\talgorithm\tbus\twrong\t")
	for _, r := range result.Rows {
		fmt.Fprintf(table, "  %s\t%.0f us\t%s\t%s\t%d\t\n", size(r.MessageBytes), r.TimeUS, rate(r.AlgBytesPerS), rate(r.BusBytesPerS), r.WrongCount)
	}
	table.Flush()
}

// flops writes a speed in the unit that suits it.
func flops(tflops float64) string {
	if tflops < 1 {
		return fmt.Sprintf("%.1f GFLOPS", tflops*1e3)
	}
	return fmt.Sprintf("%.2f TFLOPS", tflops)
}

// rate writes bytes per second in the decimal unit that suits them, as links
// and memory are sold.
func rate(bytesPerS float64) string {
	if bytesPerS < 1e9 {
		return fmt.Sprintf("%.0f MB/s", bytesPerS/1e6)
	}
	return fmt.Sprintf("%.2f GB/s", bytesPerS/1e9)
}

// size writes bytes in the binary unit that suits them; unknown where 0.
func size(bytes uint64) string {
	if bytes == 0 {
		return "memory unknown"
	}
	value, unit := float64(bytes), 0
	units := []string{"B", "KiB", "MiB", "GiB", "TiB"}
	for value >= 1024 && unit < len(units)-1 {
		value /= 1024
		unit++
	}
	return strings.TrimSuffix(fmt.Sprintf("%.1f", value), ".0") + " " + units[unit]
}
