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

    public static int CannotListen(CannotListenException problem) => Report($"cannot listen on '{problem.Endpoint}': {Advice(problem.Endpoint, problem.Cause)}");

    private static string Advice(string endpoint, ZlinkException cause) => cause.Error switch
    {
        ZlinkError.AddressInUse => "the address is in use. Stop the program that has it, or give --endpoint another port (0: any).",
        ZlinkError.InvalidArgument when Options.IsEncrypted(endpoint) => $"{cause.Message}. Here that is --cert and --key, or --dev-cert.",
        ZlinkError.InvalidArgument => $"it is not an endpoint. Write it like {Options.DefaultEndpoint}, tcp://*:5555 or tcp://[::1]:0.",
        ZlinkError.ProtocolNotSupported => "use tcp://, ipc://, tls://, ws:// or wss://.",
        ZlinkError.NoDevice => "this machine has no such name or network interface. Use an address of this machine, or * for all of them.",
        _ => cause.Message,
    };
}
