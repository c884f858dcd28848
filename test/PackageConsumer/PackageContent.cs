using System.IO.Compression;
using System.Xml.Linq;

namespace PackageConsumer;

/// <summary>What a package must contain to look finished in a gallery.</summary>
internal static class PackageContent
{
    private static readonly string[] Files = ["icon.png", "LICENSE", "CHANGELOG.md", "README.md"];

    public static IEnumerable<string> FaultsOf(string path)
    {
        string name = Path.GetFileName(path);
        using ZipArchive package = ZipFile.OpenRead(path);
        using Stream stream = package.Entries.Single(entry => entry.FullName.EndsWith(".nuspec", StringComparison.Ordinal)).Open();
        XElement metadata = XDocument.Load(stream).Root!.Elements().First();
        string Value(string element) => metadata.Elements().FirstOrDefault(e => e.Name.LocalName == element)?.Value ?? "";
        List<string> faults = [];
        faults.AddRange(new[] { "description", "tags", "license", "icon", "readme", "authors" }
            .Where(element => Value(element).Length == 0).Select(element => $"{name} has no {element}"));
        string readme = Value("readme");
        faults.AddRange(Files.Select(file => file == "README.md" ? readme : file)
            .Where(file => package.GetEntry(file) is null).Select(file => $"{name} does not contain {file}"));
        bool isTemplate = Value("packageTypes").Length > 0 || metadata.Descendants().Any(e => e.Attribute("name")?.Value == "Template");
        if (!isTemplate && !File.Exists(Path.ChangeExtension(path, ".snupkg")))
        {
            faults.Add($"{name} has no package of symbols");
        }

        return faults;
    }
}
