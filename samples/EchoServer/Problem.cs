using Net.Zlink;
using Samples;

namespace EchoServer;

/// <summary>What went wrong before the server could start, for people.</summary>
internal static class Problem
{
    public const string Program = "EchoServer";

    /// <summary>The library's own sentence, which names the endpoint, the reason and what to do; and where an option of this program is
    /// meant by it, which.</summary>
    public static int CannotListen(CannotListenException problem) =>
        Sample.Report(Program, $"cannot listen on {problem.Cause.Message}. Here that is {Hint(problem.Endpoint, problem.Cause)}");

    private static string Hint(string endpoint, ZlinkException cause) => cause.Error == ZlinkError.InvalidArgument
        && Options.IsEncrypted(endpoint)
        ? "--endpoint for the text, and --cert and --key, or --dev-cert, for the certificate."
        : $"--endpoint, such as {Options.DefaultEndpoint}.";
}
