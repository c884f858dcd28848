using System.Security.Cryptography;

namespace Net.Zlink.Transports.Ipc;

/// <summary>
/// Without a variable it is the system's directory for temporary files. The native core uses "tmp" in the working directory, which stays,
/// and whose endpoint other processes cannot use (docs/protocol.md section 15.5).
/// </summary>
internal static class WildcardPath
{
    private const string FileName = "socket";
    private const string Prefix = "tmp";

    private const string Characters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    private const int RandomLength = 6;

    private static readonly string[] Variables = ["TMPDIR", "TEMPDIR", "TMP"];

    /// <summary>The directory of wildcard binds: a full path, because the endpoint is for other processes too.</summary>
    public static string Root(Func<string, string?> environment)
    {
        foreach (var variable in Variables)
        {
            if (environment(variable) is { Length: > 0 } directory && Directory.Exists(directory))
            {
                return Path.GetFullPath(directory);
            }
        }

        return Path.GetTempPath();
    }

    public static string Make(string root)
    {
        string directory;
        do
        {
            directory = Path.Combine(root, Prefix + RandomNumberGenerator.GetString(Characters, RandomLength));
        }
        while (Path.Exists(directory));

        if (OperatingSystem.IsWindows())
        {
            Directory.CreateDirectory(directory);
        }
        else
        {
            Directory.CreateDirectory(directory, UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.UserExecute);
        }

        return Path.Combine(directory, FileName);
    }
}
