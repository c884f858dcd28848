using System.Diagnostics;
using Samples;

namespace Net.Zlink.Benchmarks.Common;

/// <summary>This program, started once more.</summary>
internal static class Self
{
    public const string InlineCompletions = "DOTNET_SYSTEM_NET_SOCKETS_INLINE_COMPLETIONS";

    public static ProcessStartInfo StartInfo(bool inlineCompletions, params IEnumerable<string> arguments)
    {
        ProcessStartInfo info = ChildProcess.ThisProgram(arguments);
        info.Environment[InlineCompletions] = inlineCompletions ? "1" : "0";
        return info;
    }
}
