using System.Globalization;

namespace Net.Zlink;

/// <summary>Where the endpoints of one user are that were opened without a name.</summary>
internal static class DiagnosticsDirectory
{
    private const string Scheme = "ipc://";
    private const string Ending = ".sock";

    // An address has about a hundred bytes, and the directory needs some of them.
    private const int LongestName = 32;

    private const UnixFileMode OnlyThisUser = UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.UserExecute;

    private static int s_last;

    /// <summary>The best one first. A service of this user may lack the variable that the user's shell has.</summary>
    private static IEnumerable<string> Locations =>
        ((string?[])
        [
            Environment.GetEnvironmentVariable("XDG_RUNTIME_DIR"),
            OperatingSystem.IsLinux() && Environment.IsPrivilegedProcess ? "/run" : null, // Only root writes there.
            Path.GetTempPath(),
        ])
        .Where(static parent => !string.IsNullOrEmpty(parent))
        .Select(static parent => Path.Combine(parent!, $"zlink-{FileName(Environment.UserName)}"));

    /// <summary>The process, a number in it, and the name of the context.</summary>
    public static string NewEndpoint(string? context)
    {
        (string directory, string? problem) = ("", null);
        foreach (string location in Locations)
        {
            (directory, problem) = (location, ProblemOf(location));
            if (problem is null)
            {
                break;
            }
        }

        if (problem is not null)
        {
            throw new ZlinkException(ZlinkError.PermissionDenied,
                $"the directory {directory} of diagnostics cannot be used ({problem}); remove it, set TMPDIR to another one, or give "
                + "OpenDiagnostics an endpoint");
        }

        string number = string.Create(CultureInfo.InvariantCulture, $"{Environment.ProcessId}-{Interlocked.Increment(ref s_last)}");
        string file = string.IsNullOrEmpty(context) ? number : $"{number}-{FileName(context)}";
        return $"{Scheme}{Path.Combine(directory, $"{file}{Ending}")}";
    }

    public static IReadOnlyList<string> Find() =>
    [
        .. Locations.Where(Directory.Exists) // The options ignore one of another user.
            .SelectMany(static location => Directory.GetFiles(location, $"*{Ending}", new EnumerationOptions()))
            .Order(StringComparer.Ordinal).Select(static path => $"{Scheme}{path}"),
    ];

    /// <summary>The directory for temporary files is open to all users: another one may have made this directory, or a link.</summary>
    private static string? ProblemOf(string directory)
    {
        try
        {
            DirectoryInfo made = Directory.CreateDirectory(directory);
            if (made.LinkTarget is null && !OperatingSystem.IsWindows())
            {
                made.UnixFileMode = OnlyThisUser; // Fails in a directory of another user.
            }

            return made.LinkTarget is null ? null : "it is a link";
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            return e.Message;
        }
    }

    private static string FileName(string name) =>
        string.Concat(name.Take(LongestName).Select(static c => char.IsAsciiLetterOrDigit(c) || c is '.' or '_' ? c : '-'));
}
