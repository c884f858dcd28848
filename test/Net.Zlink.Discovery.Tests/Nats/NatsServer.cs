using System.Globalization;
using NATS.Client.Core;
using Net.Zlink.Tests.Support;
using Samples;
using Xunit;

namespace Net.Zlink.Discovery.Tests.Nats;

/// <summary>A real nats-server with JetStream, which a test can kill and start again with the same port and the same folder.</summary>
internal sealed class NatsServer : IAsyncDisposable
{
    // A free port may be taken by another process before the server binds it.
    private const int Attempts = 5;

    private readonly string _folder = Directory.CreateTempSubdirectory("zlink-nats-").FullName;
    private readonly string _program;
    private readonly string[] _arguments;
    private int _port;
    private ChildProcess? _process;

    private NatsServer(string program, string[] arguments)
    {
        _program = program;
        _arguments = arguments;
    }

    public string Url => string.Create(CultureInfo.InvariantCulture, $"nats://127.0.0.1:{_port}");

    /// <summary>Starts a server; skips the test where there is no program for it.</summary>
    /// <param name="arguments">Of its command line, besides port and folder.</param>
    public static async Task<NatsServer> StartAsync(params string[] arguments)
    {
        string? program = Find();
        Assert.SkipWhen(program is null, "nats-server is not installed, so nothing was tested: run .ci/install-nats-server");
        var server = new NatsServer(program, arguments);
        for (int attempt = 1; ; attempt++)
        {
            server._port = FreePort.Next();
            if (await server.TryRunAsync())
            {
                return server;
            }

            Assert.True(attempt < Attempts, "nats-server does not start");
        }
    }

    /// <summary>A connection that comes again soon after a loss.</summary>
    public NatsConnection Connect() => new(new NatsOpts
    {
        Url = Url,
        RetryOnInitialConnect = true,
        ReconnectWaitMin = TimeSpan.FromMilliseconds(20),
        ReconnectWaitMax = TimeSpan.FromMilliseconds(200),
        ReconnectJitter = TimeSpan.Zero,
        RequestTimeout = TimeSpan.FromSeconds(5),
    });

    public async Task KillAsync()
    {
        if (_process is { } process)
        {
            await process.DisposeAsync();
            _process = null;
        }
    }

    public async Task RestartAsync() => Assert.True(await TryRunAsync(), "nats-server does not start again");

    public async ValueTask DisposeAsync()
    {
        await KillAsync();
        Directory.Delete(_folder, recursive: true);
    }

    private static string? Find() => Programs.Find("nats-server")
        ?? new[] { "/usr/sbin/nats-server", "/usr/local/bin/nats-server" }.FirstOrDefault(File.Exists);

    private async Task<bool> TryRunAsync()
    {
        string[] always = ["-js", "-sd", _folder, "-a", "127.0.0.1", "-p", _port.ToString(CultureInfo.InvariantCulture)];
        _process = Programs.Installed(_program, _folder, [.. always, .. _arguments]).WithErrorsInOutput().Start();
        try
        {
            await _process.ReadUntilAsync(static line => line.Contains("Server is ready", StringComparison.Ordinal));
            return true;
        }
        catch (InvalidOperationException)
        {
            await KillAsync();
            return false; // Its port was taken meanwhile.
        }
    }
}
