namespace Net.Zlink.Tests.Support;

/// <summary>The folder of the source tree that the tests run in.</summary>
internal static class Repository
{
    public static string Root { get; } = Find();

    // CI maps the paths that the compiler knows to /_/, so the tree is searched from the test's output upwards.
    private static string Find()
    {
        string? folder = AppContext.BaseDirectory;
        while (folder is not null && !File.Exists(Path.Combine(folder, "Net.Zlink.sln")))
        {
            folder = Path.GetDirectoryName(folder);
        }

        return folder ?? throw new InvalidOperationException("The tests do not run inside the repository.");
    }
}
