package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"fulmen/daemon/api/worker"
)

func printInfo(out io.Writer, info worker.Info) {
	fmt.Fprintf(out, "MLX %s on %s/%s, %d CPUs\n", info.MLXVersion, info.OS, info.Arch, info.CPUs)
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, device := range info.Devices {
		fmt.Fprintf(table, "  %s %d\t%s\t%s\t%s\n", device.Type, device.Index, device.Name, device.Architecture, size(device.MemoryBytes))
	}
	table.Flush()
	blas := info.BLAS.Name
	if info.BLAS.Config != "" {
		blas += ", " + info.BLAS.Config
	}
	fmt.Fprintf(out, "  BLAS: %s\n  Groups over: %s\n", blas, strings.Join(info.Distributed, ", "))
	if info.BLAS.Name == "reference" {
		fmt.Fprintln(out, "  This BLAS is some 30 times slower than OpenBLAS: install libopenblas0-pthread.")
	}
}

func printGPU(out io.Writer, gpu worker.GPU) {
	name := gpu.Device.Name
	if name == "" {
		name = gpu.Device.Type
	}
	fmt.Fprintf(out, "\n%s, measured in %.1f s\n", name, gpu.ElapsedS)
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, m := range gpu.MatMul {
		fmt.Fprintf(table, "  matmul %s, n = %d\t%s\tbest of %d, median %.1f %% slower%s\n",
			m.DType, m.N, flops(m.SpeedTFLOPS), m.Runs, m.SpreadRatio*100, unsettled(m.Timing))
	}
	for _, b := range gpu.Bandwidth {
		fmt.Fprintf(table, "  sum %s, %s\t%s\tbest of %d, median %.1f %% slower%s\n",
			b.DType, size(b.BufferBytes), rate(b.ReadBytesPerS), b.Runs, b.SpreadRatio*100, unsettled(b.Timing))
	}
	table.Flush()
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

// unsettled marks a number that was taken while the speed still changed.
func unsettled(t worker.Timing) string {
	if t.Settled {
		return ""
	}
	return fmt.Sprintf(" (still changing after %.1f s)", t.WarmUpS)
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
