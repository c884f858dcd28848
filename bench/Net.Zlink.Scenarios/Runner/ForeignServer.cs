using System.Globalization;
using Net.Zlink.Benchmarks.Common;
using Net.Zlink.Scenarios.Servers;
using Net.Zlink.Scenarios.Settings;

namespace Net.Zlink.Scenarios.Runner;

/// <summary>A stack that is not this program's: one that is there already, or a command that is started anew for each round.</summary>
/// <param name="Name">The stack's name.</param>
/// <param name="Endpoint">Where it is, if it is there already.</param>
/// <param name="Command">How to start it otherwise; {port} and {shards} are filled in. It prints a line that starts with READY.</param>
internal sealed record ForeignServer(string Name, string? Endpoint, string? Command)
{
    public static ForeignServer At(string endpoint) => new(Stacks.External, endpoint, null);

    /// <param name="text">NAME=COMMAND.</param>
    public static ForeignServer Parse(string text)
    {
        int equals = text.IndexOf('=', StringComparison.Ordinal);
        string name = equals < 0 ? "" : text[..equals].Trim();
        string command = text[(equals + 1)..].Trim();
        bool isName = name.Length > 0 && name.All(static letter => char.IsAsciiLetterOrDigit(letter) || letter is '-' or '_' or '.');
        if (!isName || Stacks.Served.Contains(name, StringComparer.Ordinal)
            || string.Equals(name, Stacks.External, StringComparison.Ordinal))
        {
            throw new RequestException(
                $"--command '{text}' is not NAME=COMMAND with a name of letters, digits, - _ and . that no stack of this program has.");
        }

        return command.Contains("{port}", StringComparison.Ordinal) ? new ForeignServer(name, null, command)
            : throw new RequestException($"--command {name} has no {{port}}: the server would not know where to listen.");
    }

    public string CommandFor(int port, ScenarioSettings settings) => Command!
        .Replace("{port}", port.ToString(CultureInfo.InvariantCulture), StringComparison.Ordinal)
        .Replace("{shards}", settings.Shards.ToString(CultureInfo.InvariantCulture), StringComparison.Ordinal);
}
