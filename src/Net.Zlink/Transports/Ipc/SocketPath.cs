namespace Net.Zlink.Transports.Ipc;

internal static class SocketPath
{
    private const int MaxLinks = 40;

    private const char Separator = '/';
    private const string Parent = "..";

    public static bool HasParent(string text) => text.Split(Separator).Contains(Parent, StringComparer.Ordinal);

    /// <summary>
    /// For the system, ".." after a symbolic link is the parent of the link's target; for .NET it is the parent of the link.
    /// </summary>
    public static string FromRoot(string text)
    {
        if (OperatingSystem.IsWindows() || !HasParent(text))
        {
            return Path.GetFullPath(text);
        }

        var way = new DirectoryInfo(Path.DirectorySeparatorChar.ToString());
        var rest = new Stack<string>();
        Push(rest, Path.Combine(Environment.CurrentDirectory, text));
        int links = 0;
        while (rest.Contains(Parent, StringComparer.Ordinal))
        {
            string part = rest.Pop();
            if (part is Parent)
            {
                way = way.Parent ?? way;
                continue;
            }

            var next = new DirectoryInfo(Path.Combine(way.FullName, part));
            if (next.LinkTarget is { } target)
            {
                way = Path.IsPathRooted(target) ? way.Root : way;
                Push(rest, ++links <= MaxLinks ? target : throw new IOException("too many symbolic links"));
            }
            else
            {
                way = next.Exists ? next : throw new DirectoryNotFoundException();
            }
        }

        return Path.Combine([way.FullName, .. rest]);
    }

    private static void Push(Stack<string> rest, string path)
    {
        string[] parts = path.Split(Separator, StringSplitOptions.RemoveEmptyEntries);
        for (int i = parts.Length - 1; i >= 0; i--)
        {
            if (parts[i] is not ".")
            {
                rest.Push(parts[i]);
            }
        }
    }
}
