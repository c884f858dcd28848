using Net.Zlink;

namespace EchoServer;

/// <summary>
/// What went wrong before the server could start, as one line on standard error that says what to do. Never a stack trace.
/// </summary>
internal static class Problem
{
    /// <summary>The exit code of a start that could not succeed: a bad option, a bad endpoint, a port in use.</summary>
    public const int ExitCode = 2;

    public static int Report(string sentence)
    {
        Console.Error.WriteLine($"EchoServer: {sentence.ReplaceLineEndings(" ")}");
        return ExitCode;
    }

    /// <summary>The library's own sentence, which names the endpoint, the reason and what to do; and where an option of this program is
    /// meant by it, which.</summary>
    public static int CannotListen(CannotListenException problem) =>
        Report($"cannot listen on {problem.Cause.Message}. Here that is {Hint(problem.Endpoint, problem.Cause)}");

    private static string Hint(string endpoint, ZlinkException cause) => cause.Error == ZlinkError.InvalidArgument
        && Options.IsEncrypted(endpoint)
        ? "--endpoint for the text, and --cert and --key, or --dev-cert, for the certificate."
        : $"--endpoint, such as {Options.DefaultEndpoint}.";
}
