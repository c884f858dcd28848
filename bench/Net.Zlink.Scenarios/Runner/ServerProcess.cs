using System.Globalization;
using Net.Zlink.Benchmarks.Common;
using Net.Zlink.Scenarios.Measure;
using Net.Zlink.Scenarios.Results;
using Net.Zlink.Scenarios.Servers;
using Net.Zlink.Scenarios.Settings;
using Samples;

namespace Net.Zlink.Scenarios.Runner;

/// <summary>A server in a process of its own, and what it says of itself.</summary>
internal sealed class ServerProcess : IAsyncDisposable
{
    // A cold start takes well below a second; a machine that is busy with something else may take a few.
    private static readonly TimeSpan StartLimit = TimeSpan.FromSeconds(30);

    // For its connections to end in order.
    private static readonly TimeSpan EndLimit = TimeSpan.FromSeconds(10);

    // Between the end of its output and its last word about why lie milliseconds.
    private static readonly TimeSpan LastWords = TimeSpan.FromSeconds(1);

    private readonly ChildProcess _process;
    private readonly CancellationTokenSource _end = new();
    private readonly Task _listening;
    private readonly bool _isForeign;

    private ServerProcess(ChildProcess process, string endpoint, bool isForeign)
    {
        _isForeign = isForeign;
        _process = process;
        Endpoint = endpoint;
        _listening = isForeign ? Task.CompletedTask : ListenAsync();
    }

    public string Endpoint { get; }

    public int Id => _process.Id;

    public bool HasExited => _process.HasExited;

    public string LastErrors => _process.LastErrors;

    /// <summary>What it says of itself; nothing, if it is someone else's.</summary>
    public ServerStatus Status { get; } = new();

    /// <exception cref="StartException">It did not come up.</exception>
    public static async Task<ServerProcess> StartAsync(
        Launch launch, string stack, ScenarioSettings settings, CancellationToken cancellation)
    {
        string path = settings.Transport is "ws" or "wss" ? "/" : "";
        ChildProcess process = launch.Server(settings.InlineCompletions,
            ServerCommand.Arguments(stack, $"{settings.Transport}://127.0.0.1:0{path}", settings));
        string ready = await ReadyAsync(process, cancellation);
        return new ServerProcess(process, ready[ChildLines.Ready.Length..].Trim(), isForeign: false);
    }

    /// <summary>Starts someone else's server. What it says of itself, beyond READY, is not listened to.</summary>
    /// <exception cref="StartException">It did not come up.</exception>
    public static async Task<ServerProcess> StartAsync(
        Launch launch, ForeignServer server, ScenarioSettings settings, CancellationToken cancellation)
    {
        int port = FreePort.Find();
        ChildProcess process = launch.Foreign(settings.InlineCompletions, server.CommandFor(port, settings));
        await ReadyAsync(process, cancellation);
        if (OtherProcess.HasChildren(process.Id))
        {
            await process.DisposeAsync();
            throw new StartException(
                "the command started another process, so its figures would be the wrong one's: name the program itself (dotnet "
                + "server.dll, not dotnet run)");
        }

        return new ServerProcess(process, string.Create(CultureInfo.InvariantCulture, $"{settings.Transport}://127.0.0.1:{port}"),
            isForeign: true);
    }

    public async ValueTask DisposeAsync()
    {
        try
        {
            if (!_isForeign)
            {
                _process.EndInput();
                await _process.WaitForExitAsync(EndLimit, CancellationToken.None);
            }

            await _end.CancelAsync();
            await _listening;
        }
        finally
        {
            // Whatever went wrong: nobody else would end it.
            await _process.DisposeAsync();
            _end.Dispose();
        }
    }

    private static async Task<string> ReadyAsync(ChildProcess process, CancellationToken cancellation)
    {
        try
        {
            if (await process.ReadLineAsync(ChildLines.Ready.TrimEnd(), StartLimit, cancellation) is string ready)
            {
                return ready;
            }

            await process.WaitForExitAsync(LastWords, cancellation);
            throw new StartException($"the server did not come up: {process.LastErrors}");
        }
        catch
        {
            await process.DisposeAsync();
            throw;
        }
    }

    private async Task ListenAsync()
    {
        try
        {
            while (await _process.ReadLineAsync(ChildLines.Status, Timeout.InfiniteTimeSpan, _end.Token) is string line)
            {
                Status.Add(line);
            }
        }
        catch (OperationCanceledException)
        {
            // The end.
        }
    }
}

/// <summary>A child did not come up: the round's fault, not the request's.</summary>
internal sealed class StartException(string message) : Exception(message);
