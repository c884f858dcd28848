using System.Globalization;
using Net.Zlink.Benchmarks.Common;

namespace Net.Zlink.Benchmarks.Compare;

/// <summary>A server to run: a name and a shell command with {port} in it.</summary>
internal sealed record ServerSpec(string Name, string Command)
{
    private const string Port = "{port}";

    public static ServerSpec Parse(string text)
    {
        int equals = text.IndexOf('=', StringComparison.Ordinal);
        if (equals <= 0 || !text.Contains(Port, StringComparison.Ordinal))
        {
            throw new RequestException(
                $"The server '{text}' is not understood. Write NAME=COMMAND with {Port} where the port goes; it must print a line that "
                + $"starts with READY when it listens.");
        }

        return new ServerSpec(text[..equals], text[(equals + 1)..]);
    }

    public string CommandFor(int port) => Command.Replace(Port, port.ToString(CultureInfo.InvariantCulture), StringComparison.Ordinal);
}
