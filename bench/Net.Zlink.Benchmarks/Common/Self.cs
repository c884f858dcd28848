using System.Diagnostics;

namespace Net.Zlink.Benchmarks.Common;

/// <summary>This program, started once more.</summary>
internal static class Self
{
    public const string InlineCompletions = "DOTNET_SYSTEM_NET_SOCKETS_INLINE_COMPLETIONS";

    public static ProcessStartInfo StartInfo(bool inlineCompletions, params IEnumerable<string> arguments)
    {
        string program = Environment.ProcessPath ?? throw new InvalidOperationException("This process has no path.");
        var info = new ProcessStartInfo(program);
        if (string.Equals(Path.GetFileNameWithoutExtension(program), "dotnet", StringComparison.OrdinalIgnoreCase))
        {
            info.ArgumentList.Add(typeof(Self).Assembly.Location);
        }

        foreach (string argument in arguments)
        {
            info.ArgumentList.Add(argument);
        }

        info.Environment[InlineCompletions] = inlineCompletions ? "1" : "0";
        return info;
    }
}
