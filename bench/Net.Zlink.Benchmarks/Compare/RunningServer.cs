using Net.Zlink.Benchmarks.Common;
using Samples;

namespace Net.Zlink.Benchmarks.Compare;

/// <summary>A server under load, in a process of its own.</summary>
internal sealed class RunningServer : IAsyncDisposable
{
    private const string Ready = "READY";

    // A cold start of a .NET server takes well below a second; a machine that is busy with something else may take a few.
    private static readonly TimeSpan StartLimit = TimeSpan.FromSeconds(30);

    // Between the end of a process's output and its own end lie milliseconds.
    private static readonly TimeSpan EndLimit = TimeSpan.FromSeconds(1);

    private readonly ChildProcess _process;

    private RunningServer(ChildProcess process, int port)
    {
        _process = process;
        Port = port;
    }

    public int Port { get; }

    public int Id => _process.Id;

    public bool HasExited => _process.HasExited;

    public string LastErrors => _process.LastErrors;

    public static async Task<RunningServer> StartAsync(ServerSpec spec, CancellationToken cancellation)
    {
        int port = FreePort.Find();
        ChildProcess process = ChildProcess.StartShell(spec.CommandFor(port));
        try
        {
            if (await process.ReadLineAsync(Ready, StartLimit, cancellation) is null)
            {
                bool ended = await process.WaitForExitAsync(EndLimit, cancellation);
                string why = ended ? "it ended" : $"{StartLimit.TotalSeconds:0} s went by";
                throw new RequestException(
                    $"The server {spec.Name} printed no line that starts with {Ready} before {why}: {spec.CommandFor(port)}  "
                    + $"{process.LastErrors}");
            }

            if (ProcFile.HasChildren(process.Id))
            {
                throw new RequestException(
                    $"The server {spec.Name} is a process that started another one, so its figures would be the wrong one's. Name the "
                    + $"program itself (dotnet .../EchoServer.dll, not dotnet run).");
            }

            return new RunningServer(process, port);
        }
        catch
        {
            await process.DisposeAsync();
            throw;
        }
    }

    public ValueTask DisposeAsync() => _process.DisposeAsync();
}
