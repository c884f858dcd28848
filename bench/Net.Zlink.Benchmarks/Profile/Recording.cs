using System.Diagnostics;
using System.Diagnostics.Tracing;
using Microsoft.Diagnostics.NETCore.Client;
using Microsoft.Diagnostics.Tracing.Parsers;
using Net.Zlink.Benchmarks.Common;

namespace Net.Zlink.Benchmarks.Profile;

/// <summary>An EventPipe session that was written to a file.</summary>
internal sealed record Recording(TimeSpan Elapsed, double CpuSeconds)
{
    // Samples of some 40 threads with deep stacks at 100 a second fill a few MB in the time the reader needs at worst.
    private const int BufferMiB = 256;

    private const ClrTraceEventParser.Keywords Watched =
        ClrTraceEventParser.Keywords.GC | ClrTraceEventParser.Keywords.Contention | ClrTraceEventParser.Keywords.Threading
            | ClrTraceEventParser.Keywords.Exception |
        ClrTraceEventParser.Keywords.Jit | ClrTraceEventParser.Keywords.Loader | ClrTraceEventParser.Keywords.NGen;

    public static async Task<Recording> TakeAsync(int pid, TimeSpan time, bool allocations, FileInfo file, CancellationToken cancellation)
    {
        EventPipeProvider[] providers =
        [
            new("Microsoft-DotNETCore-SampleProfiler", EventLevel.Informational),
            new(ClrTraceEventParser.ProviderName, allocations ? EventLevel.Verbose : EventLevel.Informational, (long)Watched),
        ];
        try
        {
            var client = new DiagnosticsClient(pid);
            using EventPipeSession session = await client.StartEventPipeSessionAsync(
                providers, requestRundown: true, BufferMiB, cancellation);
            double cpu = ProcFile.CpuSeconds(pid);
            long start = Stopwatch.GetTimestamp();
            await using FileStream output = file.Create();
            Task copy = session.EventStream.CopyToAsync(output, cancellation);
            await Task.WhenAny(copy, Task.Delay(time, cancellation));
            var recording = new Recording(Stopwatch.GetElapsedTime(start), ProcFile.CpuSeconds(pid) - cpu);
            cancellation.ThrowIfCancellationRequested();
            if (!copy.IsCompleted)
            {
                await session.StopAsync(cancellation);
            }

            await copy;
            return recording;
        }
        catch (Exception e) when (e is ServerNotAvailableException or DiagnosticsClientException or FileNotFoundException
            or DirectoryNotFoundException)
        {
            throw new RequestException(
                $"Process {pid} cannot be recorded: is it a .NET process of this user, and still running? {e.Message}", e);
        }
    }
}
