using System.Net;
using Net.Zlink.Tests.Support;
using Samples;
using Xunit;

namespace Net.Zlink.Samples.Tests;

/// <summary>The EchoServer sample in a process of its own.</summary>
internal static class Echo
{
    private const string ReadyPrefix = "READY tcp://";

    public static ChildProcess Start(params string[] arguments) => Programs.Sample("EchoServer", arguments).Start();

    /// <summary>Starts the sample on a free local port, and returns it with its endpoint once it listens.</summary>
    public static async Task<(ChildProcess Server, IPEndPoint EndPoint)> ListenAsync(params string[] arguments)
    {
        ChildProcess server = Start(["--endpoint", "tcp://127.0.0.1:0", .. arguments]);
        return (server, await server.ReadReadyAsync());
    }

    /// <summary>The next line, which must be a READY line with an address and a port that is not 0.</summary>
    public static async Task<IPEndPoint> ReadReadyAsync(this ChildProcess server)
    {
        string line = await server.ReadLineAsync();
        Assert.StartsWith(ReadyPrefix, line, StringComparison.Ordinal);
        IPEndPoint endPoint = IPEndPoint.Parse(line[ReadyPrefix.Length..]);
        Assert.NotEqual(0, endPoint.Port);
        return endPoint;
    }

    /// <summary>Fails unless the process refused to start the way a program should: exit code 2 and exactly one line on standard
    /// error.</summary>
    public static string TheOneErrorLine(this ProgramEnd end)
    {
        string line = Assert.Single(end.Errors.Split('\n', StringSplitOptions.RemoveEmptyEntries));
        Assert.Equal((2, ""), (end.Code, end.Output));
        Assert.StartsWith("EchoServer: ", line, StringComparison.Ordinal);
        return line;
    }
}
