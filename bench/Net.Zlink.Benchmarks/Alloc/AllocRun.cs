using System.Diagnostics;
using System.Globalization;
using System.Net;
using System.Text.Json;
using Net.Zlink.Benchmarks.Common;
using Samples;

namespace Net.Zlink.Benchmarks.Alloc;

/// <summary>Measures one case in a child process, so that nothing of the other side is in the figure.</summary>
internal sealed record AllocRun(int WarmUp, int Messages, int HighWaterMark, bool InlineCompletions, string Pool)
{
    // A child that has not started by then never will; a mark is answered at once.
    private static readonly TimeSpan StartLimit = TimeSpan.FromSeconds(30);

    // A million ping-pongs take about a minute on two slow cores.
    private static readonly TimeSpan RunLimit = TimeSpan.FromMinutes(10);

    public async Task<AllocResult> MeasureServerAsync(AllocCase one, CancellationToken cancellation)
    {
        await using ChildProcess server = StartServer(one.Mode);
        string endpoint = await ReadyAsync(server, cancellation);
        using var client = new RawClient(IPEndPoint.Parse(endpoint["tcp://".Length..]), one.Connections, one.InFlight, one.Size);
        await client.RunAsync(WarmUp).WaitAsync(cancellation);

        // The first mark of a process loads the serializer, about 150 KB: that is not the messages' cost.
        await MarkAsync(server, cancellation);
        AllocMark before = await MarkAsync(server, cancellation);
        long start = Stopwatch.GetTimestamp();
        await client.RunAsync(Messages).WaitAsync(cancellation);
        TimeSpan elapsed = Stopwatch.GetElapsedTime(start);
        AllocMark after = await MarkAsync(server, cancellation);
        return new AllocResult(one.ToString(), after.Since(before), elapsed);
    }

    public async Task<AllocResult> MeasureClientAsync(AllocCase one, CancellationToken cancellation)
    {
        await using ChildProcess server = StartServer(EchoModes.Push);
        string endpoint = await ReadyAsync(server, cancellation);
        long start = Stopwatch.GetTimestamp();
        await using ChildProcess client = ChildProcess.Start(Self.StartInfo(
            InlineCompletions,
            AllocChild.ClientCommand,
            "--mode", one.Mode,
            AllocPools.OptionName, Pool,
            "--endpoint", endpoint,
            "--in-flight", Text(one.InFlight),
            "--size", Text(one.Size),
            "--warm-up", Text(WarmUp),
            "--messages", Text(Messages)));
        AllocMark used = await ReadMarkAsync(client, RunLimit, cancellation);

        // The time includes the child's start and warm-up; scaled to the measured share of messages it is a hint, not a result.
        return new AllocResult(one.ToString(), used, Stopwatch.GetElapsedTime(start) * ((double)Messages / (WarmUp + Messages)));
    }

    public Task<AllocResult> MeasureSocketsAsync(ZmpAllocCase one, CancellationToken cancellation) => MeasureLoopAsync(
        one.ToString(),
        one.FillsStreams ? AllocResult.FullStreamBar : AllocResult.Bar,
        [AllocChild.SocketsCommand, "--pattern", one.Pattern, "--transport", one.Transport, "--mode", one.Mode, "--size", Text(one.Size)],
        cancellation);

    public Task<AllocResult> MeasureFanoutAsync(FanoutAllocCase one, CancellationToken cancellation) => MeasureLoopAsync(
        one.ToString(),
        AllocResult.Bar,
        [AllocChild.FanoutCommand, "--sender", one.Sender, "--transport", one.Transport, "--size", Text(one.Size)],
        cancellation);

    public Task<AllocResult> MeasureServicesAsync(ServiceAllocCase one, CancellationToken cancellation) => MeasureLoopAsync(
        one.ToString(),
        AllocResult.Bar,
        [AllocChild.ServicesCommand, "--mode", one.Mode, "--size", Text(one.Size)],
        cancellation);

    public Task<AllocResult> MeasureSpotAsync(SpotAllocCase one, CancellationToken cancellation) => MeasureLoopAsync(
        one.ToString(),
        AllocResult.Bar,
        [AllocChild.SpotCommand, "--mode", one.Mode, "--size", Text(one.Size)],
        cancellation);

    /// <summary>Sockets of one process, which drives them itself.</summary>
    private async Task<AllocResult> MeasureLoopAsync(string name, double bar, string[] command, CancellationToken cancellation)
    {
        await using ChildProcess sockets = ChildProcess.Start(Self.StartInfo(
            InlineCompletions,
            [.. command, AllocPools.OptionName, Pool, "--hwm", Text(HighWaterMark), "--warm-up", Text(WarmUp), "--messages",
                Text(Messages)]));
        string? seconds = await sockets.ReadLineAsync(AllocChild.SecondsReply, RunLimit, cancellation);
        AllocMark used = await ReadMarkAsync(sockets, StartLimit, cancellation);
        return new AllocResult(name, used, TimeSpan.FromSeconds(
            double.Parse(seconds![AllocChild.SecondsReply.Length..], CultureInfo.InvariantCulture)))
        { MostBytes = bar };
    }

    private static string Text(int number) => number.ToString(CultureInfo.InvariantCulture);

    private static async Task<string> ReadyAsync(ChildProcess server, CancellationToken cancellation)
    {
        string? line = await server.ReadLineAsync(AllocChild.Ready, StartLimit, cancellation);
        return line is null ? throw new InvalidOperationException($"The measured server did not start: {server.LastErrors}")
            : line[AllocChild.Ready.Length..];
    }

    private static Task<AllocMark> MarkAsync(ChildProcess server, CancellationToken cancellation)
    {
        server.Send(AllocChild.MarkRequest);
        return ReadMarkAsync(server, StartLimit, cancellation);
    }

    private static async Task<AllocMark> ReadMarkAsync(ChildProcess child, TimeSpan limit, CancellationToken cancellation)
    {
        string? line = await child.ReadLineAsync(AllocChild.MarkReply, limit, cancellation);
        return line is null
            ? throw new InvalidOperationException($"The measured process gave no figures: {child.LastErrors}")
            : JsonSerializer.Deserialize<AllocMark>(line.AsSpan(AllocChild.MarkReply.Length))!;
    }

    private ChildProcess StartServer(string mode) =>
        ChildProcess.Start(Self.StartInfo(InlineCompletions, AllocChild.ServerCommand, "--mode", mode, AllocPools.OptionName, Pool));
}

/// <summary>What one case cost.</summary>
internal sealed record AllocResult(string Case, AllocMark Used, TimeSpan Elapsed)
{
    // "None" with room for what the process does beside messages, such as the mark itself and timers: a tenth of a byte is 100 KB in a
    // million messages.
    public const double Bar = 0.1;

    // SslStream and ManagedWebSocket allocate about 1 KB for each write that has to wait for the kernel, and their pooled state machines
    // anew where a thread has none of its own: measured 0.02 to 0.37 in floods and with
    // sends that wait, never above 0.06 in ping-pong, which keeps the other bar. Nothing of ours is in it; one object of the smallest size
    // a message would be 24.
    public const double FullStreamBar = 0.5;

    /// <summary>The bar, in bytes per message.</summary>
    public double MostBytes { get; init; } = Bar;

    public double BytesPerMessage => (double)Used.Bytes / Used.Messages;

    public double MessagesPerSecond => Used.Messages / Elapsed.TotalSeconds;

    public bool IsGood => BytesPerMessage <= MostBytes && Used.Gen2 == 0;
}
