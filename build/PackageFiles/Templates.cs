namespace PackageFiles;

/// <summary>The templates of <c>dotnet new</c>.</summary>
internal static class Templates
{
    public static void Copy(string content, string shared, string folder, string[] values)
    {
        if (Directory.Exists(folder))
        {
            Directory.Delete(folder, recursive: true); // What a former version of a template had.
        }

        foreach (string template in Directory.EnumerateDirectories(content))
        {
            string target = Path.Combine(folder, Path.GetFileName(template));
            CopyAll(shared, target, values);
            CopyAll(template, target, values);
        }
    }

    private static void CopyAll(string from, string to, string[] values)
    {
        foreach (string file in Directory.EnumerateFiles(from, "*", SearchOption.AllDirectories))
        {
            string target = Path.Combine(to, Path.GetRelativePath(from, file));
            Directory.CreateDirectory(Path.GetDirectoryName(target)!);
            File.WriteAllText(target, values.Select(static one => one.Split('=', 2))
                .Aggregate(File.ReadAllText(file), static (text, value) => text.Replace(value[0], value[1], StringComparison.Ordinal)));
        }
    }
}
